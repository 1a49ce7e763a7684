//! A processor in an epoll loop, beside sockets: an echo server that other threads talk to.
//!
//! The loop sleeps in the kernel until a socket or the processor's descriptor is readable. What comes
//! from other threads are letters to the server, run by the loop's own thread, so that the server
//! needs no lock; while the loop is awake they make no system call. epoll is Linux's own.

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("this example is for Linux: elsewhere there is no epoll");
}

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    on_linux::main()
}

#[cfg(target_os = "linux")]
mod on_linux {
    use std::collections::BTreeMap;
    use std::error::Error;
    use std::io::{self, BufRead, BufReader, Read, Write};
    use std::net::{SocketAddr, TcpListener, TcpStream};
    use std::thread;
    use std::time::Duration;

    use mailring::processor::{Executor, Repeat, Step};
    use mailring::ring::Budget;
    use mailring::task::FdProcessor;
    use rustix::buffer::spare_capacity;
    use rustix::event::Timespec;
    use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
    use rustix::fd::{AsFd, OwnedFd};
    use rustix::io::retry_on_intr;

    const LISTENER: u64 = 0;
    const LETTERS: u64 = 1;
    const FIRST_CONNECTION: u64 = 2;
    const MANY: Budget = Budget::letters(256);

    /// What the loop's thread alone touches.
    #[derive(Default)]
    struct Server {
        connections: BTreeMap<u64, TcpStream>,
        greeting: &'static str,
        bytes: usize,
        ticks: u32,
    }

    pub(crate) fn main() -> Result<(), Box<dyn Error>> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let mut server = FdProcessor::new(Server::default())?;

        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        add(&epoll, &listener, LISTENER)?;
        add(&epoll, &server, LETTERS)?;

        let executor = server.executor();
        let tick = Repeat::FixedRate(Duration::from_millis(2));
        let _ticking = executor.run_every(executor.now(), tick, |server, _due| server.ticks += 1);
        let talking = thread::spawn(move || {
            let talked = talk(address, &executor).map_err(|error| error.to_string());
            executor.all_done();
            talked
        });

        let mut next_connection = FIRST_CONNECTION;
        let mut events = Vec::with_capacity(64);
        loop {
            // Timers call nobody: the loop wakes for the next one by itself.
            let timeout = server.timeout().map(Timespec::try_from).transpose()?;
            retry_on_intr(|| epoll::wait(&epoll, spare_capacity(&mut events), timeout.as_ref()))?;
            // Letters first, so that what was posted before a client came is done when it is served.
            // A turn for nothing does no harm.
            if let Step::Ended(_all_done) = server.turn(MANY)? {
                break;
            }
            for event in events.drain(..) {
                match event.data.u64() {
                    LETTERS => {}
                    LISTENER => {
                        let (connection, _from) = listener.accept()?;
                        connection.set_nonblocking(true)?;
                        add(&epoll, &connection, next_connection)?;
                        server.with_owner(|server| server.greet(next_connection, connection))?;
                        next_connection += 1;
                    }
                    id => server.with_owner(|server| server.echo(id))?,
                }
            }
        }
        talking.join().expect("talking does not panic")?;
        let Server { bytes, ticks, .. } = server.into_processor().into_owner().unwrap_or_default();
        assert!(ticks > 0, "its timer has run beside all that");
        println!("{bytes} bytes were sent back");
        Ok(())
    }

    /// Readable is all that is asked for, and asked again as long as it is so.
    fn add(epoll: &OwnedFd, source: impl AsFd, id: u64) -> io::Result<()> {
        let id = EventData::new_u64(id);
        Ok(epoll::add(epoll, source, id, EventFlags::IN)?)
    }

    impl Server {
        fn greet(&mut self, id: u64, mut connection: TcpStream) -> io::Result<()> {
            connection.write_all(self.greeting.as_bytes())?;
            self.connections.insert(id, connection);
            Ok(())
        }

        /// Sends back what has come; a connection that is at its end is closed.
        fn echo(&mut self, id: u64) -> io::Result<()> {
            let Some(connection) = self.connections.get_mut(&id) else {
                return Ok(());
            };
            let mut bytes = [0; 1024];
            let count = connection.read(&mut bytes)?;
            // So few bytes fit into the socket; a real server keeps what does not.
            connection.write_all(&bytes[..count])?;
            self.bytes += count;
            if count == 0 {
                self.connections.remove(&id);
            }
            Ok(())
        }
    }

    /// Talks to the server as its client, by sockets, and as its operator, by letters.
    fn talk(address: SocketAddr, operator: &Executor<Server>) -> Result<(), Box<dyn Error>> {
        for greeting in ["hello\n", "good day\n"] {
            operator.execute(move |server| server.greeting = greeting)?;
            let mut connection = BufReader::new(TcpStream::connect(address)?);
            let mut line = String::new();
            connection.read_line(&mut line)?;
            print!("by the socket: {line}");
            for text in ["one\n", "two\n"] {
                connection.get_mut().write_all(text.as_bytes())?;
                line.clear();
                connection.read_line(&mut line)?;
                print!("by the socket: {line}");
            }
            let open = operator.ask(|server| server.connections.len())?.wait()?;
            println!("by a letter: {open} connection open");
            drop(connection);
            while operator.ask(|server| server.connections.len())?.wait()? > 0 {
                thread::yield_now();
            }
        }
        Ok(())
    }
}
