/** The panel with the faults, the model and the way of running tools. */
import { element } from "../../browser/Element.ts"
import { labelled, tick } from "./dom.ts"
import type { AgentShown, Choice, FaultShown } from "./Wire.ts"

/** A panel, and what is chosen in it. */
export interface BreakPane {
  readonly root: HTMLElement
  readonly read: () => Pick<Choice, "faults" | "model" | "tools">
}

/** `chosen` has the names of the faults that were chosen before; without it, the preset ones are. `changed` is called for each change. */
export const breakPane = (
  agent: AgentShown,
  faults: ReadonlyArray<FaultShown>,
  chosen: ReadonlyArray<string> | undefined,
  changed: () => void
): BreakPane => {
  const boxes = faults.map(({ isPreset, name, title }) => {
    const [root, box] = tick(title, chosen?.includes(name) ?? isPreset, { "data-fault": name })
    box.addEventListener("change", changed)
    return { name, root, box }
  })
  const model = element(
    "select",
    { id: "model" },
    element("option", { value: "stand-in" }, "Stand-in (no key)"),
    ...(agent.hasModel ? [element("option", { value: "own" }, "The agent's own model")] : [])
  )
  model.value = agent.prefersModel ? "own" : "stand-in"
  const tools = element(
    "select",
    { id: "tools" },
    element("option", { value: "run" }, "Run them"),
    element("option", { value: "made up" }, "Make results up")
  )
  const isUnsafe = agent.tools.some(({ sideEffects }) => sideEffects === "unsafe")
  // the stand-in makes arguments up: no unsafe tool runs with them unless a person wants it
  tools.value = isUnsafe && !agent.prefersModel ? "made up" : "run"
  return {
    root: element(
      "section",
      { class: "break", "aria-labelledby": "break-title" },
      element("h2", { id: "break-title" }, "Break it"),
      ...boxes.map(({ root }) => root),
      labelled("Model", model),
      labelled("Tools", tools),
      element(
        "p",
        { class: "faint" },
        "The stand-in calls each tool with made-up arguments. Its sends are repeated as a transport repeats them."
      )
    ),
    read: () => ({
      faults: boxes.filter(({ box }) => box.checked).map(({ name }) => name),
      model: model.value === "own" ? "own" : "stand-in",
      tools: tools.value === "made up" ? "made up" : "run"
    })
  }
}
