/** Shows the agent before anything runs: its prompt, its tools with their rows, the errors without a row, and its limits. */
import { element } from "../../browser/Element.ts"
import { asText } from "./dom.ts"
import type { AgentShown, Chip, ToolShown } from "./Wire.ts"

export const agentPane = (agent: AgentShown): HTMLElement =>
  element(
    "section",
    { class: "agent", "aria-labelledby": "agent-name" },
    element("h2", { id: "agent-name" }, agent.name),
    element("p", { class: "faint" }, `${agent.where}${agent.kind === "agent" ? "" : `, a ${agent.kind}`}`),
    ...(agent.prompt === "" ? [] : [folded("Prompt", agent.prompt)]),
    element("h3", {}, agent.tools.length === 0 ? "No tools" : "Tools"),
    ...agent.tools.map(toolShown),
    element("h3", {}, "Model calls"),
    chips(agent.model.rows, []),
    ...(agent.model.missing.length === 0 ? [] : [modelMissing(agent.model.missing)]),
    element("h3", {}, "Limits"),
    element("p", {}, agent.budget.map(([limit, value]) => `${limit} ${value}`).join(" · ")),
    element("p", { class: "faint" }, `At worst: ${agent.worst}`)
  )

const folded = (title: string, text: string): HTMLElement =>
  element("details", {}, element("summary", {}, title), element("pre", {}, text))

const toolShown = (tool: ToolShown): HTMLElement => {
  const { approval, description, missing, name, parameters, rows, sideEffects } = tool
  const facts = [
    ...(sideEffects === "undeclared" ? [] : [`side effects: ${sideEffects}`]),
    ...(approval === undefined ? [] : [`needs approval${approval === "" ? "" : `: ${approval}`}`])
  ]
  return element(
    "article",
    { class: "tool", "data-tool": name },
    element("h4", {}, name),
    element("p", {}, description),
    ...(facts.length === 0 ? [] : [element("p", { class: "faint" }, facts.join(" · "))]),
    chips(rows, missing),
    folded("Arguments", asText(parameters))
  )
}

const chips = (rows: ReadonlyArray<Chip>, missing: ReadonlyArray<string>): HTMLElement =>
  element(
    "ul",
    { class: "chips" },
    ...rows.map(({ key, verdicts }) => element("li", { class: "chip" }, `${key} → ${verdicts}`)),
    ...missing.map((tag) => element("li", { class: "chip is-missing" }, `no row: ${tag}`))
  )

const modelMissing = (tags: ReadonlyArray<string>): HTMLElement =>
  element(
    "details",
    {},
    element("summary", { class: "is-missing" }, `${tags.length} model errors without a row`),
    element("p", { class: "faint" }, `${tags.join(", ")}. The transport of a provider sends some of them again.`)
  )
