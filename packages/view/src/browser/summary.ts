/** The summary of a recording: its sums, the share of recovery in the spending, and the problems of the recording. */
import { countOf, type Problem } from "../recording/Problem.ts"
import type { Scene } from "../scene/Scene.ts"
import { count, duration, money } from "../text/Words.ts"
import { element } from "./dom.ts"

/** Makes the summary of a scene. */
export const summary = ({ from, problems, to, totals }: Scene): HTMLElement => {
  const {
    isPriced,
    modelFailures,
    nested,
    recovery,
    runs,
    sendFailures,
    toolCalls,
    toolFailures,
    turns,
    verdicts,
    waited,
    work
  } = totals
  const amount = (spent: typeof work) => (isPriced ? money(spent.cost) : count(spent.tokens, "token"))
  const facts: ReadonlyArray<readonly [string, string, string]> = [
    [
      "Lasted",
      duration(to - from),
      count(runs, "run") + (nested > 0 ? `, ${nested.toLocaleString("en-US")} below` : "")
    ],
    ["Attempts", (work.attempts + recovery.attempts).toLocaleString("en-US"), `of models, in ${count(turns, "turn")}`],
    ["Tool calls", toolCalls.toLocaleString("en-US"), `${count(toolFailures, "failure")}`],
    [
      "Failures",
      (modelFailures + toolFailures).toLocaleString("en-US"),
      `${count(verdicts, "verdict")}${sendFailures > 0 ? `, ${count(sendFailures, "failed send")}` : ""}`
    ],
    ["Waited", duration(waited), "as decided"],
    ["Work", amount(work), count(work.attempts, "attempt")],
    ["Recovery", amount(recovery), count(recovery.attempts, "attempt")]
  ]
  const list = element("dl", { class: "sums" })
  for (const [name, value, note] of facts)
    list.append(
      element(
        "div",
        { class: name === "Recovery" ? "sum is-gold" : "sum" },
        element("dt", {}, name),
        element("dd", {}, element("strong", {}, value), element("span", {}, note))
      )
    )
  return element("section", { class: "summary", "aria-label": "Totals" }, list, shares(totals), missing(problems))
}

const shares = ({ isPriced, recovery, work }: Scene["totals"]): HTMLElement => {
  const [worked, mended] = isPriced ? [work.cost, recovery.cost] : [work.tokens, recovery.tokens]
  const all = worked + mended
  const percent = all === 0 ? 0 : Math.round((100 * mended) / all)
  const label =
    all === 0 ? "Nothing was spent" : `${percent}% of ${isPriced ? "the money" : "the tokens"} went into recovery`
  const part = element("span", { class: "gold" })
  part.style.width = `${all === 0 ? 0 : (100 * mended) / all}%`
  return element(
    "div",
    { class: "shares" },
    element("span", { class: "bar", "aria-hidden": "true" }, part),
    element("span", {}, label)
  )
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
    { class: "problems", open: problems.length < 6 },
    element("summary", {}, `This recording is not complete: ${count(all, "problem")}`),
    list
  )
}
