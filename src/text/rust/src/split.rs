//! Pre-tokenizer splitting: the regular expressions of byte-level BPE tokenizers on a lazy DFA, in time linear in the text.
//!
//! A DFA has no lookahead. The two uses that pre-tokenizers make of it are rewritten when a pattern is compiled:
//! * `\s+(?!\S)|\s+` (whitespace, but leave the last one to the word that follows) becomes `\s+\z`, `\s+\s` cut one character
//!   short, and `\s+`;
//! * `\s+$` becomes `\s+\z`, with other whitespace taken as part of the gap between matches, so that a long run is looked at once.

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, MatchKind, PatternID};
use std::sync::Mutex;

const BLANKS: &str = r"\s+(?!\S)|\s+";

#[derive(Clone, Copy, PartialEq)]
enum Action {
    Word,
    WordButLastChar, // the match is one character longer than the word
    Gap,
}

struct Stage {
    dfa: DFA,
    actions: Vec<Action>,
    caches: Mutex<Vec<Cache>>, // one per thread that splits at the same time
}

pub struct Splitter {
    stages: Vec<Stage>,
}

/// Alternatives in order of preference; a gap character is what no alternative takes.
fn alternatives(pattern: &str) -> Vec<(String, Action)> {
    let mut list = Vec::new();
    if pattern == r"\s+$" {
        list.push((r"\s+\z".to_string(), Action::Word));
        list.push((r"\s+".to_string(), Action::Gap));
    } else if let Some(head) = pattern.strip_suffix(BLANKS) {
        let head = head.strip_suffix('|').unwrap_or(head);
        if !head.is_empty() {
            list.push((head.to_string(), Action::Word));
        }
        list.push((r"\s+\z".to_string(), Action::Word));
        list.push((r"\s+\s".to_string(), Action::WordButLastChar));
        list.push((r"\s+".to_string(), Action::Word));
    } else {
        list.push((pattern.to_string(), Action::Word));
    }
    list.push((r"(?s:.)".to_string(), Action::Gap));
    list
}

impl Stage {
    fn new(pattern: &str) -> Result<Self, String> {
        let (patterns, actions): (Vec<_>, Vec<_>) = alternatives(pattern).into_iter().unzip();
        let nfa = thompson::Compiler::new()
            .syntax(syntax::Config::new().unicode(true).utf8(true))
            .configure(thompson::Config::new().utf8(true).shrink(false).which_captures(thompson::WhichCaptures::None))
            .build_many(&patterns)
            .map_err(|e| format!("pre-tokenizer pattern {pattern}: {e}"))?;
        let dfa = DFA::builder()
            .configure(DFA::config().match_kind(MatchKind::LeftmostFirst).cache_capacity(8 << 20))
            .build_from_nfa(nfa)
            .map_err(|e| format!("pre-tokenizer pattern {pattern}: {e}"))?;
        Ok(Stage { dfa, actions, caches: Mutex::new(Vec::new()) })
    }

    /// Appends the ends of the words of text[begin..end]. The piece is its own text: `\z` is its end.
    fn split(&self, cache: &mut Cache, text: &str, begin: usize, ends: &mut Vec<u32>) -> Result<(), String> {
        let mut position = 0;
        let mut gap_begin = 0;
        while position < text.len() {
            let input = Input::new(text).anchored(Anchored::Yes).range(position..);
            let found = self.dfa.try_search_fwd(cache, &input).map_err(|e| e.to_string())?;
            let (pattern, mut end) = match found {
                Some(half) => (half.pattern(), half.offset()),
                None => return Err("a pre-tokenizer pattern stopped short".to_string()),
            };
            let action = self.action(pattern);
            if action == Action::WordButLastChar {
                end = text[..end].char_indices().next_back().map_or(end, |(index, _)| index);
            }
            if end <= position {
                return Err("a pre-tokenizer pattern matched nothing".to_string());
            }
            if action != Action::Gap {
                if gap_begin < position {
                    ends.push((begin + position) as u32);
                }
                ends.push((begin + end) as u32);
                gap_begin = end;
            }
            position = end;
        }
        if gap_begin < text.len() {
            ends.push((begin + text.len()) as u32);
        }
        Ok(())
    }

    fn action(&self, pattern: PatternID) -> Action {
        self.actions[pattern.as_usize()]
    }

    fn take_cache(&self) -> Cache {
        let mut caches = self.caches.lock().unwrap_or_else(|e| e.into_inner());
        caches.pop().unwrap_or_else(|| self.dfa.create_cache())
    }

    fn put_cache(&self, cache: Cache) {
        self.caches.lock().unwrap_or_else(|e| e.into_inner()).push(cache);
    }
}

impl Splitter {
    pub fn new(patterns: &[&str]) -> Result<Self, String> {
        Ok(Splitter { stages: patterns.iter().map(|p| Stage::new(p)).collect::<Result<_, _>>()? })
    }

    /// End offsets as native uint32_t.
    pub fn split(&self, text: &str) -> Result<Vec<u8>, String> {
        if text.len() >= u32::MAX as usize {
            return Err(format!("a text of {} bytes is too long to split", text.len()));
        }
        let mut ends = if text.is_empty() { vec![] } else { vec![text.len() as u32] };
        for stage in &self.stages {
            let mut cache = stage.take_cache();
            let mut finer = Vec::with_capacity(text.len() / 4 + 1);
            let mut begin = 0;
            for &end in &ends {
                stage.split(&mut cache, &text[begin..end as usize], begin, &mut finer)?;
                begin = end as usize;
            }
            stage.put_cache(cache);
            ends = finer;
        }
        Ok(ends.iter().flat_map(|end| end.to_ne_bytes()).collect())
    }
}
