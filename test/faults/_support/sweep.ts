/** Every fault at every step of the story, whole and streamed; and what of it went against an invariant. */
import { AgentEvent } from "@kintsugi/core"
import { Exit } from "effect"
import type { Fault, Injection, Step } from "./steps.ts"
import { type Played, playNow } from "./story.ts"

/** Played once, and looked at by every test. */
export const sweep = async (): Promise<ReadonlyArray<Played>> => {
  const all: Array<Played> = []
  for (const mode of ["whole", "streamed"] as const) {
    const clean = await playNow(mode)
    if (!Exit.isSuccess(clean.exit)) throw new Error(`the clean run fails: ${String(clean.exit.cause)}`)
    all.push(clean)
    const injections = injectionsOf(clean)
    // side by side, for each waits for its own clock
    for (let i = 0; i < injections.length; i += 32) {
      all.push(...(await Promise.all(injections.slice(i, i + 32).map((injection) => playNow(mode, injection)))))
    }
  }
  return all
}

const injectionsOf = (clean: Played): ReadonlyArray<Injection> => [
  ...clean.steps.flatMap((step, index) =>
    step.faults
      // a tool that is stuck has no end after which anything could come
      .filter((fault) => fault !== "interrupt after" || step.hasEnded)
      .map((fault) => faultOf(step, index, fault))
  ),
  ...countsOf(clean)
]

export const faultOf = (step: Step, index: number, fault: Fault): Injection => ({
  index,
  step,
  fault,
  ...(fault === "maxDuration" ? { limit: step.at + Math.max(5, step.lasts / 2) } : {})
})

/** Limits that are counted: each is one below what the step would need. They are reached before it, so nothing is planted. */
const countsOf = ({ sent, steps }: Played): ReadonlyArray<Injection> => {
  const limits: Array<Injection> = []
  const limit = (step: Step, fault: Fault, limit: number) => {
    if (limit >= 1) limits.push({ index: -1, step, fault, limit })
  }
  // the first attempts of a turn; the first time that a call decodes
  const turns = steps.filter(({ kind, label }) => kind === "call" && !label.endsWith("turn 3, attempt 2"))
  for (const [before, step] of turns.entries()) limit(step, "maxTurns", before)
  // in the order in which they are counted: that of the replies
  const numbers = ["101", "2", "3", "4", "5", "20", "6", "7", "8"]
  const calls = numbers.flatMap((n) => steps.filter(({ kind, label }) => isDecoding(kind) && label === n))
  for (const [before, step] of calls.entries()) limit(step, "maxToolCalls", before)
  const answers = steps.filter(({ kind, label }) => kind === "call" && !label.endsWith("turn 3, attempt 1"))
  let tokens = 0
  for (const [index, { inputTokens, outputTokens }] of sent.entries()) {
    tokens += inputTokens + outputTokens
    const step = answers[index]
    if (step !== undefined) limit(step, "maxTokens", tokens - 1)
  }
  return limits
}

const isDecoding = (kind: string) => kind === "decode" || kind === "coercion"

/** Where and how a run went wrong. */
export const nameOf = ({ injection, mode }: Played): string => {
  if (injection === undefined) return `${mode}: nothing`
  const { fault, step } = injection
  const { kind, layer, nth, label } = step
  return `${mode}: ${layer}, ${kind} (${nth === 1 ? label : `${label}, time ${nth}`}), ${fault}`
}

/** How many injections there are that differ by layer, step, fault or mode, by layer. */
export const distinct = (all: ReadonlyArray<Played>): ReadonlyMap<string, number> => {
  const layers = new Map(
    all.flatMap((played) =>
      played.injection === undefined ? [] : [[nameOf(played), played.injection.step.layer] as const]
    )
  )
  const counts = new Map<string, number>()
  for (const layer of layers.values()) counts.set(layer, (counts.get(layer) ?? 0) + 1)
  return counts
}

/** Holds an invariant against all runs that it is about, and tells of those in which it fails. */
export const violations = (all: ReadonlyArray<Played>, holds: (played: Played) => void): ReadonlyArray<string> =>
  all.flatMap((played) => {
    try {
      holds(played)
      return []
    } catch (error) {
      return [`${nameOf(played)}\n${messageOf(error)}\n${played.events.map(lineOf).join("\n")}`]
    }
  })

/** Where a fault leaves one thing in a whole run and another in a streamed one; models and listeners keep a pace of their own. */
export const differences = (
  all: ReadonlyArray<Played>
): { readonly pairs: number; readonly found: ReadonlyArray<string> } => {
  const left = new Map<string, string>()
  const found: Array<string> = []
  let pairs = 0
  for (const played of all) {
    const { injection } = played
    if (injection !== undefined && hasOwnPace(injection.step)) continue
    const name = nameOf(played).replace(/^\w+: /, "")
    const leaves = JSON.stringify(leftBy(played))
    const other = left.get(name)
    left.set(name, leaves)
    if (other === undefined) continue
    pairs++
    if (other !== leaves) found.push(`${name}\n${other}\n${leaves}`)
  }
  return { pairs, found }
}

const hasOwnPace = ({ kind, layer }: Step): boolean =>
  layer === "listener" || layer === "model" || (layer === "fixer" && kind === "call")

/** All that a run leaves behind, but for the ids that were drawn for it. */
const leftBy = ({ events, exit, requests, sent, starts }: Played) => ({
  exit: Exit.isSuccess(exit) ? "success" : exit.cause.reasons.map(({ _tag }) => _tag),
  // only a stream has shown what was stopped
  messages: events.flatMap((event) =>
    event.type === "turn-end" && event.message.incomplete !== true ? [event.message] : []
  ),
  ends: events.filter(AgentEvent.isTerminal).map(({ agent, at, type }) => [agent, at, type]),
  requests: requests.map(({ messages }) => messages),
  starts: starts.map(({ callId, end, lookedUp }) => [callId, end, lookedUp]),
  sent
})

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

const lineOf = (event: AgentEvent.AgentEvent): string =>
  ["  ", event.at, event.agent, event.turn, event.type, "callId" in event ? event.callId : ""].join(" ")
