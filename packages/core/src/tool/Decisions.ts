/** The decisions and settlements with which a run is resumed, and whether each of them counts. */
import type * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { KintsugiError } from "../errors/KintsugiError.ts"
import type * as Approval from "../data/Approval.ts"
import { always } from "./approving.ts"
import type { Decisions, SettlementReceipt } from "./ToolDefinition.ts"
import type { Receipt } from "./waiting.ts"

interface Decided {
  readonly decisions?: ReadonlyArray<Approval.Decided> | undefined
  readonly settlements?:
    | ReadonlyArray<{ readonly token: string; readonly exit: Exit.Exit<unknown, unknown> }>
    | undefined
}

/**
 * Makes the decisions of a resumption. Only the first decision about a request counts, and only the first settlement for a token.
 * `requests` and `tokens` are what the run waits for. `withdrawn` has the digests and tokens that a message of the user has withdrawn.
 * `before` has the digests about which a decision has counted in an earlier resumption.
 */
export const decisionsOf = (
  { decisions, settlements }: Decided,
  requests: () => ReadonlyArray<Approval.ApprovalRequest>,
  tokens: () => ReadonlyArray<string>,
  withdrawn: () => ReadonlyArray<string>,
  before: () => ReadonlyArray<string>
): Decisions => {
  const first = new Map<string, Approval.Decided>()
  // Mutant `["Stryker was here"]` survives: a text has no digest
  for (const decided of decisions ?? []) if (!first.has(decided.digest)) first.set(decided.digest, decided)
  const noted = new Map<string, Fate>()
  const fateOf = (decided: Approval.Decided): Fate => {
    const fate = fateOfRequest(decided.digest)
    const isDecided = fate !== "unknown-request" && fate !== "late" && fate !== "withdrawn"
    return isDecided && first.get(decided.digest) !== decided ? "already-decided" : fate
  }
  const fateOfRequest = (digest: string): Fate => {
    // a request whose decision no call has used was withdrawn together with its call
    const fate = noted.get(digest)
    if (fate !== undefined) return fate
    const wasAsked = requests().some((one) => one.digest === digest) || withdrawn().includes(digest)
    if (wasAsked) return "withdrawn"
    return before().includes(digest) ? "already-decided" : "unknown-request"
  }
  const received = new Map<string, Receipt>()
  const firstFor = (token: string) => settlements?.find((settlement) => settlement.token === token)
  const receiptOf = (settlement: { readonly token: string }): SettlementReceipt => {
    const { token } = settlement
    const receipt = received.get(token)
    const isOurs = receipt !== undefined || tokens().includes(token)
    if (isOurs && firstFor(token) !== settlement) return { _tag: "NotCounted", token, reason: "already-settled" }
    // a settlement that no call has used: its call was withdrawn, or its run is over
    return { ...(receipt ?? { _tag: "NotCounted", reason: isOurs ? "run-over" : "unknown-token" }), token }
  }
  return {
    about: (digest) => (withdrawn().includes(digest) ? undefined : first.get(digest)?.decision),
    note: (digest, fate) => void (noted.has(digest) || noted.set(digest, fate)),
    failureOf: (failure, error) => {
      const codec = Schema.toCodecJson(failure === undefined ? KintsugiError : Schema.Union([failure, KintsugiError]))
      return Option.getOrUndefined(Schema.decodeUnknownOption(codec)(error))
    },
    decided: () => {
      const now = Array.from(noted).flatMap(([digest, fate]) => (fate === "counted" ? digest : []))
      return [...before(), ...now].slice(-mostDecided)
    },
    gate: always,
    // only the first settlement for a token counts
    settlement: (token) => (withdrawn().includes(token) ? undefined : firstFor(token)?.exit),
    noteSettlement: (token, receipt) => void received.set(token, receipt),
    receipts: () => settlements?.map(receiptOf),
    answers: () =>
      decisions?.map((decided): Approval.DecisionReceipt => {
        const { digest } = decided
        const fate = fateOf(decided)
        return fate === "counted" ? { _tag: "Counted", digest } : { _tag: "NotCounted", digest, reason: fate }
      })
  }
}

/** How many digests of decided requests a snapshot keeps. */
const mostDecided = 64

type Fate = Parameters<Decisions["note"]>[1]
