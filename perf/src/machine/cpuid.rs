//! What a CPU says of itself when asked; nothing where it is no x86.

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{hypervisor, name, tsc_per_us, vendor};

#[cfg(not(target_arch = "x86_64"))]
pub(super) use other::{hypervisor, name, tsc_per_us, vendor};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use crate::machine::told;
    use raw_cpuid::{CpuId, Hypervisor};

    /// The CPU's name.
    pub(in crate::machine) fn name() -> Option<String> {
        told(CpuId::new().get_processor_brand_string()?.as_str())
    }

    /// Who made it.
    pub(in crate::machine) fn vendor() -> Option<String> {
        told(CpuId::new().get_vendor_info()?.as_str())
    }

    /// The hypervisor's name.
    pub(in crate::machine) fn hypervisor() -> Option<String> {
        let cpuid = CpuId::new();
        if !cpuid.get_feature_info()?.has_hypervisor() {
            return None;
        }
        let name = cpuid
            .get_hypervisor_info()
            .map(|info| match info.identify() {
                Hypervisor::HyperV => "Hyper-V".to_owned(),
                Hypervisor::Unknown(a, b, c) => signature([a, b, c]),
                known => format!("{known:?}"),
            });
        name.filter(|name| !name.is_empty())
            .or_else(|| Some("unnamed".to_owned()))
    }

    /// The time stamp counter's ticks in a microsecond.
    pub(in crate::machine) fn tsc_per_us() -> Option<f64> {
        let cpuid = CpuId::new();
        let of_hypervisor = cpuid
            .get_hypervisor_info()
            .and_then(|info| info.tsc_frequency())
            .map(|khz| f64::from(khz) / 1e3);
        let of_cpu = || Some(cpuid.get_tsc_info()?.tsc_frequency()? as f64 / 1e6);
        of_hypervisor
            .filter(|&rate| rate > 0.0)
            .or_else(of_cpu)
            .filter(|&rate| rate > 0.0)
    }

    /// The letters of a hypervisor that is not known by name.
    fn signature(words: [u32; 3]) -> String {
        let letters = words.into_iter().flat_map(u32::to_le_bytes);
        letters
            .filter(u8::is_ascii_graphic)
            .map(char::from)
            .collect()
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_signature_is_its_letters() {
            let words = [
                u32::from_le_bytes(*b"Some"),
                u32::from_le_bytes(*b"VM\0\0"),
                0,
            ];
            assert_eq!(signature(words), "SomeVM");
            assert_eq!(signature([u32::MAX, 0, 1]), "");
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod other {
    /// The CPU's name.
    pub(in crate::machine) fn name() -> Option<String> {
        None
    }

    /// Who made it.
    pub(in crate::machine) fn vendor() -> Option<String> {
        None
    }

    /// The hypervisor's name.
    pub(in crate::machine) fn hypervisor() -> Option<String> {
        None
    }

    /// The counter's ticks in a microsecond.
    pub(in crate::machine) fn tsc_per_us() -> Option<f64> {
        None
    }
}
