/** The script of the page of `kintsugi serve`. */
import { agentPane } from "./agentPane.ts"
import * as api from "./api.ts"
import { breakPane, type BreakPane } from "./breakPane.ts"
import { button, element } from "../../browser/Element.ts"
import { asText } from "./dom.ts"
import { type Act, Palette } from "./palette.ts"
import { inputForm, type InputForm } from "./inputForm.ts"
import { nameOf, runList } from "./runList.ts"
import { RunPane } from "./runPane.ts"
import type { Problem, Replayed, State } from "./Wire.ts"

const main = document.querySelector("main") ?? document.body.appendChild(document.createElement("main"))
const left = element("div", { class: "left" })
const middle = element("div", { class: "middle" })
const right = element("div", { class: "right" })
const inputBox = element("form", { class: "ask" })
const message = element("p", { class: "complaint", role: "alert" })
const replayed = element("p", { class: "replayed", role: "status" })
const stage = element("div", { class: "place" })
const faultTicks = () => [...right.querySelectorAll<HTMLInputElement>("[data-fault]")]

const complain = (error: unknown): void => {
  message.textContent = error instanceof Error ? error.message : String(error)
}

let shown: State | undefined
let form: InputForm | undefined
let breaking: BreakPane | undefined
let pane: { readonly id: string; readonly view: RunPane } | undefined
let runs: HTMLElement | undefined

/** Shows a run in the middle. */
const show = (id: string): void => {
  message.textContent = ""
  pane?.view.leave()
  const view = new RunPane(id, { show, complain })
  pane = { id, view }
  stage.replaceChildren(view.root)
  // Mutant `"Stryker was here!"` survives: browsers ignore this argument
  history.replaceState(undefined, "", `${location.pathname}${location.search}#${id}`)
  void renew().catch(complain)
}

const run = (): void => {
  message.textContent = ""
  if (form === undefined || breaking === undefined) return
  try {
    const seed = Math.floor(Math.random() * 2 ** 31)
    api.start({ input: form.read(), seed, ...breaking.read() }).then(show, complain)
  } catch (error) {
    complain(error)
  }
}

const runButton = element("button", { type: "submit", class: "main", id: "run" }, "Run it")

const nameButton = (): void => {
  const isBroken = (breaking?.read().faults.length ?? 0) > 0
  runButton.textContent = isBroken ? "Run it, broken" : "Run it"
}

/** What a person can do now, for the palette. */
const acts = (): ReadonlyArray<Act> => [
  ...(form === undefined || inputBox.hidden ? [] : [{ name: runButton.textContent ?? "", act: run }]),
  ...(pane?.view.acts() ?? []),
  ...(inputBox.hidden ? [] : [{ name: "Replay the last failures", act: replay }]),
  { name: "Load the file again", act: () => void api.reload().catch(complain) },
  ...faultTicks().map((box) => ({
    name: `${box.checked ? "Do not break" : "Break"}: ${box.parentElement?.textContent ?? ""}`,
    act: () => box.click()
  })),
  ...(shown?.runs ?? []).map((run) => ({ name: `Show ${nameOf(run)}`, act: () => show(run.id) }))
]

const palette = new Palette(acts)

/** Says what has become of the last failures under the tables of now. */
const tellReplay = ({ before, each, now, runs }: Replayed): void => {
  const error = each.find((one) => !one.now)?.error
  const rest = error === undefined ? "" : `. The first that is not: ${error}`
  replayed.textContent = runs === 0 ? "No run with failures was kept." : `${before} → ${now} of ${runs} healed${rest}`
}

const replay = (): void => {
  replayed.textContent = "…"
  api.replay().then(tellReplay, complain)
}

const replayButton = button("Replay the last failures", replay, { id: "replay" })

inputBox.addEventListener("submit", (event) => {
  event.preventDefault()
  run()
})
addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.metaKey || event.ctrlKey)) return
  event.preventDefault()
  run()
})

/** Shows why the agent cannot run, and what to paste. */
const problemPane = ({ found, missing, paste, title }: Problem): HTMLElement =>
  element(
    "section",
    { class: "problem", role: "alert" },
    element("h2", {}, title),
    element("p", {}, found),
    ...(missing.length === 0 ? [] : [element("ul", {}, ...missing.map((service) => element("li", {}, service)))]),
    ...(paste === "" ? [] : [element("h3", {}, "Paste this"), element("pre", {}, paste)]),
    button("Load again", () => void api.reload().catch(complain))
  )

/** Takes a new description of the agent. */
const takeAgent = (state: State): void => {
  const { agent, faults, problem } = state
  if (agent === undefined) {
    left.replaceChildren()
    right.replaceChildren()
    inputBox.hidden = true
    document.title = problem === undefined ? "kintsugi serve" : `✕ ${problem.title}`
    middle.replaceChildren(
      ...(problem === undefined ? [element("p", {}, "Loading…")] : [problemPane(problem)]),
      message,
      stage
    )
    return
  }
  const isFirst = shown?.agent === undefined
  const before = isFirst ? state.runs.find(({ input }) => input !== undefined)?.input : undefined
  const schemaChanged = JSON.stringify(shown?.agent?.input) !== JSON.stringify(agent.input)
  if (form === undefined || schemaChanged) form = inputForm(agent.input, before)
  const hasRun = state.runs.length > 0
  breaking = breakPane(agent, faults, breaking?.read().faults ?? (hasRun ? [] : undefined), nameButton)
  inputBox.hidden = false
  inputBox.replaceChildren(
    form.root,
    element(
      "p",
      { class: "acts" },
      runButton,
      element("span", { class: "faint" }, `At most ${costOf(state)}`),
      replayButton
    ),
    replayed
  )
  left.replaceChildren(agentPane(agent))
  right.replaceChildren(breaking.root)
  middle.replaceChildren(inputBox, message, stage)
  document.title = `${agent.name} · kintsugi serve`
  nameButton()
  if (isFirst) form.focus()
  else replayed.textContent = "The file was loaded again."
}

const costOf = ({ agent }: State): string => {
  const limits = new Map(agent?.budget)
  return `${limits.get("turns")} turns, cost: ${asText(limits.get("cost"))}`
}

const takeRuns = (state: State): void => {
  const list = runList(state.runs, pane?.id, { show, clear: () => void api.clear().catch(complain) })
  if (runs === undefined || !runs.isConnected) left.append(list)
  else runs.replaceWith(list)
  runs = list
  const run = state.runs.find(({ id }) => id === pane?.id)
  if (run !== undefined) pane?.view.renew(run, state.runs)
}

/** Asks for the state, and shows what has changed. */
const renew = async (): Promise<void> => {
  const state = await api.state()
  // an answer may overtake another one
  if (shown !== undefined && state.version < shown.version) return
  if (state.version !== shown?.version) takeAgent(state)
  shown = state
  takeRuns(state)
}

const start = async (): Promise<void> => {
  const head = element("header", {}, element("h1", {}, "◆ kintsugi serve"), palette.opener())
  main.replaceChildren(head, left, middle, right)
  document.body.append(palette.root)
  await renew()
  const wanted = location.hash.slice(1)
  if (shown?.runs.some(({ id }) => id === wanted) === true) show(wanted)
  let last = 0
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- a stream that has ended is followed from where it ended
    last = await api.follow("/changes", last, () => void renew().catch(complain))
  }
}

start().catch(() => complain(new Error("The server has ended. Start it again: kintsugi serve")))
