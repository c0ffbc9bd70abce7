/**
 * The health of a branch of the outline, and the words that its row shows.
 *
 * @internal
 */
import { at, asText, fieldOf, itemsAt, textAt } from "../recording/Fields.ts"
import { tagOf } from "../recording/ErrorWords.ts"
import type { Recorded } from "../recording/Recorded.ts"
import { clip, count, duration } from "../text/Words.ts"
import type { Growing, Health } from "./growing.ts"

/** A short text beside the name of a branch. */
export interface Badge {
  readonly tone: "healed" | "tell" | "lost" | "asked" | "note"
  readonly text: string
}

const bad: ReadonlySet<string> = new Set(["failed", "interrupted"])

/** The health of a branch, from its own items and from its children, whose health is set already. */
export const healthOf = ({ children, items, kind }: Growing, events: ReadonlyArray<Recorded>): Health => {
  if (kind === "run") return runHealth(items, children)
  if (kind === "turn") {
    const all = new Set(children.map(({ health }) => health))
    const tones = new Set(items.map((item) => (item.shape === "mark" ? item.tone : undefined)))
    if (all.has("lost") || tones.has("lost")) return "lost"
    if (all.has("tell") || tones.has("tell")) return "tell"
    return all.has("healed") || tones.has("mended") ? "healed" : "ok"
  }
  const spans = items.filter((item) => item.shape === "span")
  const isMended =
    items.some((item) => item.shape === "mark" && item.tone === "mended") || spans.some(({ state }) => bad.has(state))
  const end = kind === "call" ? settlementIn(items, events) : undefined
  if (end !== undefined) return end === "result" || end === "deferred" ? (isMended ? "healed" : "ok") : "tell"
  const last = spans.findLast(({ part }) => !besides.has(part)) ?? spans.at(-1)
  if (last?.state === "failed") return "lost"
  if (last?.state === "tell" || last?.state === "refused") return "tell"
  return isMended && last?.state === "ok" ? "healed" : "ok"
}

/** The parts of a call that say nothing about its end. */
const besides: ReadonlySet<string> = new Set(["wait", "mending", "repair", "send"])

/** The kind of the settlement of a call, if an event has it. */
const settlementIn = (items: Growing["items"], events: ReadonlyArray<Recorded>): string | undefined => {
  for (const item of items.toReversed())
    for (const index of item.events.toReversed()) {
      const event = events[index]
      const kind = textAt(event, "use", "settlement", "kind") ?? textAt(event, "settlement", "kind")
      if (kind !== undefined && event?.type !== "turn-end") return kind
    }
  return undefined
}

const runHealth = (items: Growing["items"], children: Growing["children"]): Health => {
  const end = items.findLast((item) => item.shape === "span")
  if (end?.shape === "span" && bad.has(end.state)) return "lost"
  return children.some(({ health }) => health !== "ok") ? "healed" : "ok"
}

/** The name and the note of a branch. */
export const describe = (
  growing: Growing,
  events: ReadonlyArray<Recorded>
): { readonly name: string; readonly note: string } => {
  const { children, items, kind, main } = growing
  const event = events[main?.subject ?? -1]
  const firstEvent = events[items[0]?.events[0] ?? items[0]?.subject ?? -1]
  switch (kind) {
    case "run":
      return { name: event?.agent ?? "?", note: clip(asText(firstEvent?.["input"] ?? ""), 120) }
    case "turn":
      return { name: main?.label ?? `turn ${event?.turn ?? "?"}`, note: namesOf(children, events) }
    case "model":
      return { name: modelIn(items, events), note: saidIn(items, events) }
    case "call":
      return { name: textAt(event, "tool") ?? "tool", note: argumentsOf(items, events) }
    case "group":
      return {
        // Mutant `+1` survives: a group has calls, and each call has an item
        name: `${children.length} × ${textAt(events[children[0]?.main?.subject ?? -1], "tool") ?? "?"}`,
        note: "went well"
      }
    case "part":
      return partWords(growing, events)
  }
}

/** The tools that a turn calls: `10 × lookupOrder, refund`. */
const namesOf = (children: ReadonlyArray<Growing>, events: ReadonlyArray<Recorded>): string => {
  const counts = new Map<string, number>()
  for (const child of children) {
    const some = child.kind === "group" ? child.children : child.kind === "call" ? [child] : []
    for (const { main } of some) {
      const tool = textAt(events[main?.subject ?? -1], "tool") ?? "?"
      counts.set(tool, (counts.get(tool) ?? 0) + 1)
    }
  }
  return [...counts].map(([tool, many]) => (many === 1 ? tool : `${many} × ${tool}`)).join(", ")
}

const modelIn = (items: Growing["items"], events: ReadonlyArray<Recorded>): string => {
  for (const item of items)
    for (const index of item.events) {
      const model = textAt(events[index], "model")
      if (model !== undefined) return model
    }
  return "model"
}

const saidIn = (items: Growing["items"], events: ReadonlyArray<Recorded>): string => {
  for (const item of items.toReversed()) {
    const event = events[item.subject]
    if (event?.type !== "model-end") continue
    const text = itemsAt(event, "reply", "content")
      .map((part) => textAt(part, "text") ?? "")
      .find((said) => said !== "")
    if (text !== undefined) return `“${clip(text, 120)}”`
    return count(itemsAt(event, "reply", "content").length, "call")
  }
  return ""
}

const argumentsOf = (items: Growing["items"], events: ReadonlyArray<Recorded>): string => {
  for (const item of items)
    for (const index of item.events) {
      const given = events[index]?.["arguments"] ?? at(events[index], "request", "arguments")
      if (given !== undefined) return shortly(given)
    }
  return ""
}

/** JSON in short: `{id: "O-50", cents: 99999}`. */
const shortly = (value: unknown): string =>
  clip(typeof value === "string" ? value : (JSON.stringify(value) ?? ""), 200)
    .replaceAll(/"(\w+)":/g, "$1: ")
    .replaceAll(/,(?=\S)/g, ", ")

const partWords = ({ attempt, decided, main }: Growing, events: ReadonlyArray<Recorded>) => {
  // Mutants `main?.label && "?"`, `""`, `"Stryker was here!"` survive: each part is of a span
  if (main?.shape !== "span") return { name: main?.label ?? "?", note: "" }
  const event = events[main.subject]
  if (main.part === "approval") {
    const decision = textAt(events[decided ?? -1], "decision", "type")
    const reason = textAt(event, "request", "reason") ?? ""
    return { name: "waits for a person", note: decision === undefined ? reason : `${reason} → ${decision}` }
  }
  const error = fieldOf(event, "error")
  const note = error === undefined || main.state !== "failed" ? "" : tagOf(error)
  return { name: main.part === "call" || main.part === "attempt" ? `attempt ${attempt}` : main.label, note }
}

/** The tag of the last error among the events of some items. */
const tagIn = (items: Growing["items"], events: ReadonlyArray<Recorded>): string | undefined => {
  for (const item of items.toReversed())
    for (const index of item.events.toReversed()) {
      const event = events[index]
      const error = fieldOf(event, "error")
      if (error !== undefined) return tagOf(error)
      const tag = textAt(event, "tag")
      if (tag !== undefined) return tag
    }
  return undefined
}

/** The badges of a branch: how it ended, and how long it waited for a person. */
export const badgesOf = (growing: Growing, events: ReadonlyArray<Recorded>): ReadonlyArray<Badge> => {
  const found = [...ofHealth(growing, events)]
  if (growing.kind !== "part" && growing.waited > 0) found.push({ tone: "asked", text: duration(growing.waited) })
  return found
}

const ofHealth = (growing: Growing, events: ReadonlyArray<Recorded>): ReadonlyArray<Badge> => {
  const { children, health, items, kind } = growing
  if (kind === "part") {
    const [span] = items
    return span?.shape === "span" && span.state === "failed" ? [{ tone: "lost", text: "failed" }] : []
  }
  if (kind === "run" || kind === "turn") {
    const lost: Array<Badge> = health === "lost" ? [{ tone: "lost", text: lostText(growing, events) }] : []
    const read = kind === "turn" ? children.find((child) => child.health === "tell") : undefined
    if (read !== undefined) lost.push({ tone: "tell", text: tagIn(read.items, events) ?? "not run" })
    const many = healedIn(growing)
    const only = children.find((child) => child.health === "healed")
    const text = many === 1 && only !== undefined && kind === "turn" ? healedBy(only.items, events) : `${many} healed`
    return many === 0 ? lost : [...lost, { tone: "healed", text }]
  }
  if (health === "lost") return [{ tone: "lost", text: tagIn(items, events) ?? "failed" }]
  if (health === "tell") return [{ tone: "tell", text: tagIn(items, events) ?? "not run" }]
  return health === "healed" ? [{ tone: "healed", text: healedBy(items, events) }] : []
}

const lostText = ({ children, items }: Growing, events: ReadonlyArray<Recorded>): string => {
  const own = tagIn(items, events)
  if (own !== undefined) return own
  const lost = children.find(({ health }) => health === "lost")
  return lost === undefined ? "ended" : (tagIn(lost.items, events) ?? "failed")
}

/** How many model calls and tool calls of a turn or a run were healed. */
const healedIn = ({ children, kind }: Growing): number =>
  children.reduce(
    (sum, child) =>
      sum + (kind === "run" && child.kind === "turn" ? healedIn(child) : child.health === "healed" ? 1 : 0),
    0
  )

/** What healed a call: `retried 2×`, `fix` or `JSON repaired`. */
const healedBy = (items: Growing["items"], events: ReadonlyArray<Recorded>): string => {
  const marks = items.filter((item) => item.shape === "mark" && item.tone === "mended")
  const verdicts = marks.flatMap(({ subject }) => textAt(events[subject], "verdict") ?? [])
  const last = verdicts.at(-1)
  if (last === "retry") {
    const many = verdicts.filter((verdict) => verdict === "retry").length
    return many === 1 ? "retried" : `retried ${many}×`
  }
  if (last !== undefined) return last
  const [mark] = marks
  return events[mark?.subject ?? -1]?.type === "arguments-coerced" ? "JSON repaired" : "healed"
}
