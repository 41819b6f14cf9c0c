//! The twenty core performatives, in the order of sections 3.1 to 3.3, and what each one means.

/// What kind of speech act a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Performative {
    Inf,
    Qry,
    Rpl,
    Cfm,
    Dny,
    Err,
    Req,
    Cmd,
    Pro,
    Acc,
    Rej,
    Ctr,
    Del,
    Can,
    Sub,
    Uns,
    Pub,
    Ack,
    Nak,
    Syn,
}

/// What a reader wants to know about a performative, in our words.
#[derive(Clone, Copy, Debug)]
pub struct PerformativeInfo {
    pub word: &'static str,
    pub name: &'static str,
    pub precondition: &'static str,
    pub effect: &'static str,
    /// Which messages it may answer, for hover texts; empty when it may stand on its own.
    pub answers: &'static str,
}

impl Performative {
    pub const ALL: [Performative; 20] = [
        Performative::Inf,
        Performative::Qry,
        Performative::Rpl,
        Performative::Cfm,
        Performative::Dny,
        Performative::Err,
        Performative::Req,
        Performative::Cmd,
        Performative::Pro,
        Performative::Acc,
        Performative::Rej,
        Performative::Ctr,
        Performative::Del,
        Performative::Can,
        Performative::Sub,
        Performative::Uns,
        Performative::Pub,
        Performative::Ack,
        Performative::Nak,
        Performative::Syn,
    ];

    pub fn from_word(word: &str) -> Option<Self> {
        Self::from_bytes(word.as_bytes())
    }

    /// The hot path of the parser: three upper-case bytes or nothing.
    pub(crate) fn from_bytes(word: &[u8]) -> Option<Self> {
        let &[a, b, c] = word else { return None };
        Some(match [a, b, c] {
            [b'I', b'N', b'F'] => Self::Inf,
            [b'Q', b'R', b'Y'] => Self::Qry,
            [b'R', b'P', b'L'] => Self::Rpl,
            [b'C', b'F', b'M'] => Self::Cfm,
            [b'D', b'N', b'Y'] => Self::Dny,
            [b'E', b'R', b'R'] => Self::Err,
            [b'R', b'E', b'Q'] => Self::Req,
            [b'C', b'M', b'D'] => Self::Cmd,
            [b'P', b'R', b'O'] => Self::Pro,
            [b'A', b'C', b'C'] => Self::Acc,
            [b'R', b'E', b'J'] => Self::Rej,
            [b'C', b'T', b'R'] => Self::Ctr,
            [b'D', b'E', b'L'] => Self::Del,
            [b'C', b'A', b'N'] => Self::Can,
            [b'S', b'U', b'B'] => Self::Sub,
            [b'U', b'N', b'S'] => Self::Uns,
            [b'P', b'U', b'B'] => Self::Pub,
            [b'A', b'C', b'K'] => Self::Ack,
            [b'N', b'A', b'K'] => Self::Nak,
            [b'S', b'Y', b'N'] => Self::Syn,
            _ => return None,
        })
    }

    pub fn word(self) -> &'static str {
        self.info().word
    }

    pub fn info(self) -> &'static PerformativeInfo {
        &TABLE[self as usize]
    }
}

const fn row(
    word: &'static str,
    name: &'static str,
    precondition: &'static str,
    effect: &'static str,
    answers: &'static str,
) -> PerformativeInfo {
    PerformativeInfo { word, name, precondition, effect, answers }
}

/// In the order of `Performative`.
static TABLE: [PerformativeInfo; 20] = [
    row(
        "INF",
        "inform",
        "the sender holds the content to be true",
        "the receiver knows that the sender holds it true",
        "",
    ),
    row(
        "QRY",
        "query",
        "the sender wants to know the content",
        "the receiver knows what the sender wants to know",
        "",
    ),
    row(
        "RPL",
        "reply",
        "a query was received",
        "the sender gives the information that was asked for",
        "QRY or REQ",
    ),
    row(
        "CFM",
        "confirm",
        "a claim that can be true or false was made",
        "the receiver knows that the claim is confirmed true",
        "INF or RPL",
    ),
    row(
        "DNY",
        "deny",
        "a claim that can be true or false was made",
        "the receiver knows that the claim is confirmed false",
        "INF or RPL",
    ),
    row(
        "ERR",
        "error",
        "doing or processing something failed",
        "the receiver knows what failed, in the application's terms",
        "",
    ),
    row(
        "REQ",
        "request",
        "the sender wants the receiver to act",
        "the receiver knows which action is asked for",
        "",
    ),
    row(
        "CMD",
        "command",
        "the sender has authority over the receiver",
        "the receiver must act, or refuse with REJ",
        "",
    ),
    row(
        "PRO",
        "propose",
        "the sender has a plan to offer",
        "the receiver may accept, reject or counter it",
        "",
    ),
    row("ACC", "accept", "a proposal was received", "the proposal is agreed", "PRO or CTR"),
    row(
        "REJ",
        "reject",
        "a proposal or a command was received",
        "the proposal is declined, or the command refused",
        "PRO, CTR or CMD",
    ),
    row(
        "CTR",
        "counter",
        "a proposal was received",
        "another proposal is on the table",
        "PRO or CTR",
    ),
    row(
        "DEL",
        "delegate",
        "the sender passes on a responsibility",
        "the receiver owns it from now on",
        "",
    ),
    row("CAN", "cancel", "the sender takes back an earlier act of its own", "that act is void", ""),
    row(
        "SUB",
        "subscribe",
        "the sender wants updates as they happen",
        "the sender will receive updates on the topic",
        "",
    ),
    row("UNS", "unsubscribe", "the sender has a subscription", "the subscription ends", ""),
    row(
        "PUB",
        "publish",
        "there is an update for subscribers",
        "every subscriber receives the update",
        "",
    ),
    row(
        "ACK",
        "acknowledge",
        "a message arrived (transport level)",
        "its sender knows that it arrived, and nothing more",
        "any message",
    ),
    row(
        "NAK",
        "negative acknowledge",
        "a message cannot be processed (protocol level)",
        "its sender knows that it was not processed, and the reason",
        "any message",
    ),
    row(
        "SYN",
        "synchronize",
        "two agents hold state that should agree",
        "the agents compare and align it",
        "",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_and_words_agree() {
        for performative in Performative::ALL {
            assert_eq!(Performative::from_word(performative.word()), Some(performative));
        }
        assert_eq!(Performative::from_word("inf"), None);
        assert_eq!(Performative::from_word("INFO"), None);
    }
}
