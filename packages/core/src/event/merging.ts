/** Numbered events: reads those after a number, and merges adjacent deltas. */
import * as AgentEvent from "./AgentEvent.ts"

/** An event with its number. */
export type Numbered = {
  readonly number: number
  readonly event: AgentEvent.AgentEvent
  /**
   * Set if the event is several merged deltas: the index at which the text of each ends. The last delta has `number`; earlier ones have the
   * numbers before it.
   */
  readonly ends?: ReadonlyArray<number>
}

/**
 * The events after a number, with adjacent deltas merged. Deltas of open model calls stay apart, unless `all` is set. Only the number of
 * events falls: a reader at any cursor gets the same texts, even at a cursor that names a merged delta.
 */
export const merge = (
  events: Iterable<Numbered>,
  { after = 0, all = false }: { readonly after?: number; readonly all?: boolean } = {}
): Array<Numbered> => {
  const wanted = [...events].flatMap((one) => behind(one, after) ?? [])
  const isFinished = all ? () => true : finishedIn(wanted)
  const merged: Array<Numbered> = []
  let group: Array<Numbered> = []
  const close = () => {
    const [only] = group
    if (only !== undefined) merged.push(group.length === 1 ? only : joined(group))
    group = []
  }
  for (const one of wanted) {
    const last = group.at(-1)
    if (last !== undefined && !(isFinished(one) && follows(one, last))) close()
    group.push(one)
  }
  close()
  return merged
}

/** The part of an event after a number. */
export const behind = (one: Numbered, after: number): Numbered | undefined => {
  const { ends, event, number } = one
  if (number <= after) return undefined
  const gone = after - firstOf(one) + 1
  // Mutant `false` for `ends === undefined` survives: nothing of a single event is gone
  if (ends === undefined || gone <= 0 || !isDelta(event)) return one
  const start = ends[gone - 1] ?? 0
  const rest = ends.slice(gone).map((end) => end - start)
  const shorter = { ...event, text: event.text.slice(start) }
  return rest.length === 1 ? { number, event: shorter } : { number, event: shorter, ends: rest }
}

const firstOf = ({ ends, number }: Numbered): number => (ends === undefined ? number : number - ends.length + 1)

type Delta = AgentEvent.OfType<"text-delta" | "reasoning-delta">

const isDelta = (event: AgentEvent.AgentEvent): event is Delta =>
  event.type === "text-delta" || event.type === "reasoning-delta"

/** The deltas of finished model calls: the end of the call or of the run follows. */
const finishedIn = (events: ReadonlyArray<Numbered>) => {
  const last = new Map<string, number>()
  for (const { event, number } of events) if (isEnd(event)) last.set(event.runId, number)
  return ({ event, number }: Numbered): boolean => number < (last.get(event.runId) ?? 0)
}

const ends: ReadonlySet<AgentEvent.AgentEvent["type"]> = new Set([
  "model-end",
  "model-failed",
  "model-interrupted",
  "attempt-discarded",
  "turn-end"
])

/** Whether an event ends the model call that its run has open, if there is one. */
export const isEnd = (event: AgentEvent.AgentEvent): boolean => ends.has(event.type) || AgentEvent.isTerminal(event)

/** Whether two events are adjacent deltas of one text. */
const follows = (one: Numbered, before: Numbered): boolean => {
  if (firstOf(one) !== before.number + 1 || !isDelta(one.event) || !isDelta(before.event)) return false
  const earlier = new Map<string, unknown>(Object.entries(before.event))
  const later = Object.entries(one.event)
  // a run has one parent
  return (
    later.length === earlier.size &&
    later.every(([key, value]) => key === "text" || key === "at" || key === "parent" || earlier.get(key) === value)
  )
}

/** Several deltas as one, at the instant of the last. */
const joined = (group: ReadonlyArray<Numbered>): Numbered => {
  const texts: Array<string> = []
  const ends: Array<number> = []
  let length = 0
  for (const one of group) {
    if (!isDelta(one.event)) continue
    texts.push(one.event.text)
    for (const end of one.ends ?? [one.event.text.length]) ends.push(length + end)
    length += one.event.text.length
  }
  const { event, number } = group[group.length - 1] as Numbered
  return { number, event: { ...event, text: texts.join("") } as Delta, ends }
}
