/** Lists the runs that were kept, the newest first. */
import { button, element } from "../../browser/Element.ts"
import { clip, duration } from "../../text/Words.ts"
import { asText } from "./dom.ts"
import type { RunShown, Status } from "./Wire.ts"

const signs: Readonly<Record<Status, string>> = {
  running: "●",
  waiting: "△",
  completed: "✓",
  failed: "✕",
  interrupted: "■",
  "cut off": "…"
}

/** The words of a status, as headings and titles show them. */
export const words: Readonly<Record<Status, string>> = {
  running: "● RUNNING",
  waiting: "△ WAITS FOR YOU",
  completed: "✓ COMPLETED",
  failed: "✕ FAILED",
  interrupted: "■ STOPPED",
  "cut off": "… CUT OFF"
}

interface Acts {
  readonly show: (id: string) => void
  readonly clear: () => void
}

export const runList = (runs: ReadonlyArray<RunShown>, selected: string | undefined, acts: Acts): HTMLElement =>
  element(
    "section",
    { class: "runs", "aria-label": "Runs" },
    element("h3", {}, runs.length === 0 ? "No runs yet" : "Runs"),
    ...(runs.length === 0 ? [] : [element("ul", {}, ...runs.map((run) => item(run, run.id === selected, acts)))]),
    element("p", { class: "faint" }, "Runs are kept in .kintsugi/runs. They hold what was said."),
    ...(runs.length === 0 ? [] : [button("Clear", acts.clear)])
  )

/** A run in short: how it ended, and its input. */
export const nameOf = ({ input, status }: RunShown): string =>
  `${signs[status]} ${clip(asText(input), 40) || "the recorded input"}`

const item = (run: RunShown, isSelected: boolean, { show }: Acts): HTMLElement => {
  const { error, healed, id, lasted, of, status } = run
  const facts = [
    duration(lasted),
    ...(healed === 0 ? [] : [`◆ ${healed}`]),
    ...(of?.turn === undefined ? [] : [`from turn ${of.turn}`])
  ]
  return element(
    "li",
    { class: `run is-${status.replace(" ", "-")}${isSelected ? " is-selected" : ""}`, "data-run": id },
    button(nameOf(run), () => show(id), { class: "open" }),
    element("span", { class: "faint" }, [...facts, ...(error === undefined ? [] : [clip(error, 50)])].join(" · "))
  )
}
