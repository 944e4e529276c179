//! What failed on a real device: `expected/h100.txt` lists the cases, and with each the answers about a device's arithmetic that, forced on
//! another device, have what failed computed as it is on that one. A run in which an answer is forced has all of its cases, whatever its
//! share (`scripts/vulkan/variants.mjs`).

use crate::machine;
use std::collections::BTreeSet;
use std::sync::OnceLock;

const LIST: &str = include_str!("../expected/h100.txt");
/// Stands for an answer where every device computes what failed in another way now.
const ALWAYS: &str = "always";
/// Stands for an answer where a device still computes what failed, whatever it answers.
const LEFT: &str = "left";

/// A line of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Listed {
    /// A test: `exp/float32/vulkan`.
    name: &'static str,
    /// What covers it, in order.
    answers: Vec<&'static str>,
}

impl Listed {
    /// The test of the same row and dtype, or of the same programs, on a device.
    fn on(&self, device: &str) -> String {
        self.name.rsplit_once('/').map_or_else(|| self.name.into(), |(group, _)| format!("{group}/{device}"))
    }

    /// Whether one of these answers is for it.
    fn is_of(&self, forced: &[&str]) -> bool {
        self.answers.iter().any(|answer| forced.contains(answer))
    }
}

/// The lines of a list.
///
/// # Errors
/// A sentence for a line that is not in order, or names what is no answer.
fn parsed(text: &'static str) -> Result<Vec<Listed>, String> {
    let known = [machine::answers(), vec![ALWAYS, LEFT]].concat();
    let mut out: Vec<Listed> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (name, answers) = line.split_once('\t').ok_or_else(|| format!("{line:?} has no tab"))?;
        let answers: Vec<&str> = answers.split(", ").collect();
        if let Some(other) = answers.iter().find(|answer| !known.contains(answer)) {
            return Err(format!("{name}: {other:?} is none of {}", known.join(", ")));
        }
        if !name.ends_with("/vulkan") {
            return Err(format!("{name} is no test of Vulkan"));
        }
        if out.last().is_some_and(|before| before.name >= name) {
            return Err(format!("{name} is not in the order of names"));
        }
        out.push(Listed { name, answers });
    }
    Ok(out)
}

fn list() -> &'static Result<Vec<Listed>, String> {
    static PARSED: OnceLock<Result<Vec<Listed>, String>> = OnceLock::new();
    PARSED.get_or_init(|| parsed(LIST).map_err(|e| format!("expected/h100.txt: {e}")))
}

/// Whether a test is listed for an answer that this run forces.
pub fn keeps(test: &str) -> bool {
    static KEPT: OnceLock<BTreeSet<&'static str>> = OnceLock::new();
    let kept = KEPT.get_or_init(|| {
        let forced = std::env::var("VULKAN_WITHOUT").ok().and_then(|names| machine::forced(&names).ok()).unwrap_or_default();
        let lines = list().iter().flatten();
        lines.filter(|line| line.is_of(&forced)).map(|line| line.name).collect()
    });
    kept.contains(test)
}

/// What the list has that is no test any more, of those that a run asks for on one of these devices, which have tests of the same names;
/// `tests` are all that it could run.
pub fn missing(devices: &[&str], asked: impl Fn(&str) -> bool, tests: &BTreeSet<&str>) -> Option<String> {
    let lines = match list() {
        Ok(lines) => lines,
        Err(e) => return Some(e.clone()),
    };
    let is_gone = |line: &&Listed| {
        let own: Vec<String> = devices.iter().map(|device| line.on(device)).collect();
        own.iter().any(|test| asked(test)) && !own.iter().any(|test| tests.contains(test.as_str()))
    };
    let gone: Vec<&str> = lines.iter().filter(is_gone).map(|line| line.name).collect();
    let shown = gone.iter().take(8).copied().collect::<Vec<_>>().join(", ");
    (!gone.is_empty()).then(|| format!("expected/h100.txt lists {} that are no tests: {shown}", gone.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe;

    /// What runs the suite on devices that this machine does not have.
    const VARIANTS: &str = include_str!("../../../scripts/vulkan/variants.mjs");

    #[test]
    fn every_line_names_a_row_and_a_dtype_or_programs() {
        let lines = list().as_ref().unwrap();
        assert_eq!(lines.len(), 330);
        let groups: BTreeSet<String> = ferrotensor_ops::OPS
            .iter()
            .flat_map(|op| recipe::dtypes(op).into_iter().map(|d| format!("{}/{d}/vulkan", op.path())))
            .collect();
        let others: Vec<&str> = lines.iter().map(|line| line.name).filter(|name| !groups.contains(*name)).collect();
        assert!(others.iter().all(|name| name.starts_with("programs/")), "{others:?}");
    }

    #[test]
    fn a_variant_forces_every_answer_and_has_every_case() {
        let variants = VARIANTS.lines().filter_map(|line| line.split_once("without(")?.1.split_once(')'));
        // A share, and names in quotes.
        let words =
            variants.map(|(arguments, _)| arguments.split(", ").map(|word| word.trim_matches('\'')).collect::<Vec<_>>());
        let whole =
            |words: &Vec<&str>| words[0] == "100" && machine::forced(&words[1..].join(",")) == Ok(machine::answers());
        assert!(words.clone().any(|words| whole(&words)), "{:?}", words.collect::<Vec<_>>());
    }

    #[test]
    fn a_line_that_says_nothing_is_refused() {
        let line = |answers| Listed { name: "abs/float32/vulkan", answers };
        assert_eq!(parsed("# Words.\nabs/float32/vulkan\troots, left\n"), Ok(vec![line(vec!["roots", "left"])]));
        assert!(
            parsed("abs/float32/vulkan\tfma\n").unwrap_err().contains("\"fma\" is none of roots, quotients, subnormals")
        );
        assert!(parsed("abs/float32/hostile\troots\n").unwrap_err().contains("no test of Vulkan"));
        assert!(parsed("sin/float32/vulkan\troots\nabs/float32/vulkan\troots\n").unwrap_err().contains("order"));
        assert!(line(vec!["roots"]).is_of(&["quotients", "roots"]) && !line(vec!["always"]).is_of(&["roots"]));
    }

    #[test]
    fn what_is_no_test_any_more_is_told_where_it_is_asked_for() {
        let lines = list().as_ref().unwrap();
        let hostile: Vec<String> = lines.iter().map(|line| line.on("hostile")).collect();
        let mut tests: BTreeSet<&str> = hostile.iter().map(String::as_str).collect();
        assert_eq!(missing(&["hostile", "vulkan"], |_| true, &tests), None);
        assert!(tests.remove("abs/float32/hostile"));
        let gone = missing(&["hostile"], |_| true, &tests).unwrap();
        assert!(gone.contains("lists 1 that are no tests: abs/float32/vulkan"), "{gone}");
        // Neither what the run does not ask for nor a device that is not there.
        assert_eq!(missing(&["hostile"], |test| !test.starts_with("abs/"), &tests), None);
        assert_eq!(missing(&["hostile"], |test| test.ends_with("/vulkan"), &tests), None);
    }
}
