/** The sums of a recording: its time, its spending, its turns and calls, one bar of where the time went, and the problems of the file. */
import { countOf, type Problem } from "../recording/Problem.ts"
import type { Scene } from "../scene/Scene.ts"
import * as Shares from "../scene/Shares.ts"
import { amount, type Totals } from "../recording/Totals.ts"
import { count, duration } from "../text/Words.ts"
import { element } from "./Element.ts"

const names = [
  ["model", "models"],
  ["tool", "tools"],
  ["recovery", "failed attempts, waits and repairs"]
] as const

/** Makes the sums of a scene. */
export const sums = (scene: Scene): HTMLElement => {
  const { from, problems, to, totals } = scene
  const shares = Shares.make(scene)
  const { nestedTurns, toolCalls, turns } = totals
  const busy = shares.model + shares.tool + shares.recovery
  const facts: ReadonlyArray<readonly [name: string, value: string, note: string]> = [
    ["Duration", duration(to - from), ""],
    ["At work", duration(busy), shares.person > 0 ? `${duration(shares.person)} for a person` : ""],
    spentOf(totals),
    [
      "Turns · tool calls",
      `${(turns - nestedTurns).toLocaleString("en-US")} · ${toolCalls.toLocaleString("en-US")}`,
      nestedTurns > 0 ? `${count(nestedTurns, "more turn")} in sub-agents` : ""
    ]
  ]
  const list = element("dl")
  for (const [name, value, note] of facts)
    list.append(
      element(
        "div",
        {},
        element("dt", {}, name),
        element("dd", {}, element("strong", {}, value), ...(note === "" ? [] : [" ", element("span", {}, note)]))
      )
    )
  return element(
    "section",
    { class: "sums", "aria-label": "Sums" },
    list,
    split(shares, busy, scene),
    missing(problems)
  )
}

/** What all attempts have spent. What is not known is not 0. */
const spentOf = ({ isPriced, recovery, work }: Totals): readonly [string, string, string] => {
  const all = {
    attempts: work.attempts + recovery.attempts,
    tokens: work.tokens + recovery.tokens,
    cost: work.cost + recovery.cost,
    unknown: work.unknown + recovery.unknown
  }
  const spent = amount(all, isPriced)
  return ["Spent", spent, isPriced ? count(all.tokens, "token") : spent === "unknown" ? "" : "cost unknown"]
}

const split = (shares: Shares.Shares, busy: number, { totals }: Scene): HTMLElement => {
  const bar = element("div", { class: "split", "aria-hidden": "true" })
  const labels = element("p", { class: "quiet" }, "Time at work:")
  for (const [share, name] of names) {
    const lasts = shares[share]
    if (lasts <= 0) continue
    const part = element("span", { class: share })
    part.style.flexGrow = String(lasts / Math.max(1, busy))
    bar.append(part)
    labels.append(
      element("span", {}, element("i", { class: share, "aria-hidden": "true" }), `${name} ${duration(lasts)}`)
    )
  }
  const { isPriced, recovery } = totals
  if (isPriced ? recovery.cost > 0 : recovery.tokens > 0)
    labels.append(element("span", {}, `${amount(recovery, isPriced)} of the spending is recovery`))
  return element("div", { class: "where" }, labels, bar)
}

const missing = (problems: ReadonlyArray<Problem>): Node => {
  if (problems.length === 0) return document.createDocumentFragment()
  const all = countOf(problems)
  const list = element("ul")
  for (const { line, says } of problems.slice(0, 100))
    list.append(element("li", {}, line === undefined ? says : `Line ${line}: ${says}`))
  if (all > 100) list.append(element("li", {}, `And ${all - 100} more.`))
  return element(
    "details",
    { class: "problems", open: problems.length < 3 },
    element("summary", {}, `This recording is not complete: ${count(all, "problem")}`),
    list
  )
}
