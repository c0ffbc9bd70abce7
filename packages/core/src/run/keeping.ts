/** The parts of a snapshot beside the conversation: long results, messages, deferred calls, and the compacted conversation. */
import type * as Message from "../data/Message.ts"
import type { Snapshot } from "../event/Checkpoint.ts"
import type { RunContext } from "../event/RunContext.ts"
import type { LateCalls } from "../tool/Late.ts"

/** The newest results that were put aside, up to 1 MiB of text in all. */
export const asideOf = ({ done: { aside } }: RunContext): Pick<Snapshot, "putAside"> => {
  if (aside === undefined) return {}
  let left = 2 ** 19
  const putAside = aside.toReversed().map(({ handle, text = "" }) => ({
    handle,
    ...((left -= text.length) < 0 || text === "" ? {} : { text })
  }))
  return { putAside: putAside.toReversed() }
}

/** A snapshot lists at most this many withdrawn requests. */
const mostWithdrawn = 64

export const inboxOf = (run: RunContext): Pick<Snapshot, "inbox" | "withdrawn"> => {
  const inbox = run.tree.inbox?.keep(run) ?? []
  const withdrawn = run.parent === undefined ? (run.tree.inbox?.withdrawn ?? []) : []
  return {
    ...(inbox.length === 0 ? {} : { inbox }),
    ...(withdrawn.length === 0 ? {} : { withdrawn: withdrawn.slice(-mostWithdrawn) })
  }
}

/** The digests of the requests for approval that a call, or its sub-agents, wait for. */
export const requestsOf = (
  call: NonNullable<Snapshot["unfinished"]>["calls"][number] | undefined
): ReadonlyArray<string> => {
  if (call?.type === "agent") return call.snapshot.unfinished?.calls.flatMap(requestsOf) ?? []
  return call?.type === "decision" ? [call.request.digest] : []
}

export const lateOf = (late: LateCalls | undefined): Pick<Snapshot, "late"> =>
  late === undefined || late.isEmpty ? {} : { late: late.checkpoints() }

/** The compacted beginning of a conversation, and the index in the full conversation where both are the same again. */
export const abridged = (
  whole: Message.Transcript,
  compacted: Message.Transcript
): { readonly head: Message.Transcript; readonly from: number } => {
  let shared = 0
  while (shared < compacted.length && compacted.at(-1 - shared) === whole.at(-1 - shared)) shared++
  return { head: compacted.slice(0, compacted.length - shared), from: whole.length - shared }
}
