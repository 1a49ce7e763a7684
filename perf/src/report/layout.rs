//! Text of at most 80 columns: tables, wrapped lines, and colour where it is wanted.

use comfy_table::{CellAlignment, LineStyle, Row, Table, TableStyle};
use owo_colors::OwoColorize;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns of a terminal that all text fits.
pub const WIDTH: usize = 80;

/// How text is set off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Styles {
    /// With the escape codes of a terminal.
    pub colour: bool,
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Plain,
    /// A title, or what is compared to all else.
    Strong,
    /// What explains.
    Faint,
    /// What a reader must know to trust the figures.
    Warning,
}

impl Styles {
    fn paint(self, text: &str, look: Look) -> String {
        match look {
            _ if !self.colour => text.to_owned(),
            Look::Plain => text.to_owned(),
            Look::Strong => text.bold().to_string(),
            Look::Faint => text.dimmed().to_string(),
            Look::Warning => text.yellow().to_string(),
        }
    }

    /// A line of text, broken between words where it must be; later lines are set in by two.
    pub(crate) fn text(self, text: &str, look: Look) -> String {
        let lines = wrapped(text, WIDTH);
        lines
            .iter()
            .map(|line| self.paint(line, look) + "\n")
            .collect()
    }

    /// A table. Its first column is at the left and as wide as the others leave it; these are at
    /// the right, and must fit.
    pub(crate) fn table(self, header: &[&str], rows: &[(Look, Vec<String>)]) -> String {
        let others = (1..header.len()).map(|column| {
            let cells = rows.iter().filter_map(|(_, cells)| cells.get(column));
            let cells = cells.map(|cell| cell.width());
            let names = header[column].lines().map(|line| line.width());
            APART + names.chain(cells).max().unwrap_or(0)
        });
        let left = WIDTH.saturating_sub(others.sum());

        let mut table = Table::new();
        table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─')));
        table.set_header(Row::from(header.iter()));
        for (_, cells) in rows {
            let cells = cells.iter().enumerate().map(|(column, cell)| match column {
                0 => shortened(cell, left),
                _ => cell.clone(),
            });
            table.add_row(cells.collect::<Vec<_>>());
        }
        for (index, column) in table.column_iter_mut().enumerate() {
            if index == 0 {
                column.set_padding((0, 0));
            } else {
                column.set_padding((APART as u16, 0));
                column.set_cell_alignment(CellAlignment::Right);
            }
        }

        let head = header
            .iter()
            .map(|name| name.lines().count())
            .max()
            .unwrap_or(0)
            + 1;
        let looks = std::iter::repeat_n(Look::Faint, head).chain(rows.iter().map(|row| row.0));
        let lines = table.lines().zip(looks);
        lines
            .map(|(line, look)| self.paint(line.trim_end(), look) + "\n")
            .collect()
    }
}

/// A space at which no line is broken.
pub(crate) const TOGETHER: &str = "\u{a0}";

/// Between two columns of a table.
const APART: usize = 2;

/// A text in so many columns at most, with a sign where something is missing.
pub(crate) fn shortened(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut used = 1;
    let kept = text.chars().take_while(|letter| {
        used += letter.width().unwrap_or(0);
        used <= width
    });
    let mut short: String = kept.collect();
    short.push('…');
    short
}

/// A text in lines of at most `width`, all but the first set in by two.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let word = word.replace(TOGETHER, " ");
        let line = lines.last_mut().expect("there is always one");
        let starts = line.trim_start().is_empty();
        if !starts && line.width() + 1 + word.width() <= width {
            line.push(' ');
            line.push_str(&word);
            continue;
        }
        if !starts {
            lines.push("  ".to_owned());
        }
        for letter in word.chars() {
            let full = lines.last().expect("there is always one").width()
                + letter.width().unwrap_or(0)
                > width;
            if full {
                lines.push("  ".to_owned());
            }
            lines.last_mut().expect("there is always one").push(letter);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain() -> Styles {
        Styles::default()
    }

    fn row(cells: &[&str]) -> (Look, Vec<String>) {
        (
            Look::Plain,
            cells.iter().map(|&cell| cell.to_owned()).collect(),
        )
    }

    #[test]
    fn the_first_column_is_left_and_the_others_are_right() {
        let text = plain().table(
            &["subject", "median"],
            &[row(&["a", "1.00"]), row(&["bb", "10"])],
        );
        assert_eq!(
            text,
            "subject  median\n\
             ───────────────\n\
             a          1.00\n\
             bb           10\n"
        );
    }

    #[test]
    fn a_long_name_leaves_room_for_the_figures() {
        let name = "n".repeat(200);
        let text = plain().table(&["subject", "median"], &[row(&[&name, "1.00"])]);
        assert!(text.lines().all(|line| line.width() <= WIDTH), "{text}");
        assert!(text.contains("n…"), "{text}");
        assert!(text.contains("1.00"), "{text}");
    }

    #[test]
    fn wide_letters_count_twice() {
        assert_eq!(shortened("信箱信箱", 5), "信箱…");
        assert_eq!(shortened("abc", 3), "abc");
        assert_eq!(shortened("abcd", 3), "ab…");
    }

    #[test]
    fn text_is_broken_between_words_and_within_them_only_if_it_must_be() {
        assert_eq!(wrapped("one two three", 9), ["one two", "  three"]);
        assert_eq!(wrapped("abcdefghij", 4), ["abcd", "  ef", "  gh", "  ij"]);
        assert_eq!(wrapped("", 9), [""]);
        assert_eq!(wrapped("for 12\u{a0}ns", 7), ["for", "  12 ns"]);
    }

    #[test]
    fn there_is_colour_only_where_it_is_wanted() {
        let rows = [(Look::Strong, vec!["a".to_owned(), "1".to_owned()])];
        for (colour, escapes) in [(false, 0), (true, 6)] {
            let text = Styles { colour }.table(&["subject", "median"], &rows);
            assert_eq!(text.matches('\u{1b}').count(), escapes, "{text:?}");
        }
    }
}
