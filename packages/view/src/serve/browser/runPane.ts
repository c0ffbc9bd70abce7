/** The pane of one run: at work it grows and takes decisions and words, and afterwards it has the report and the ways to go on. */
import { at, textAt } from "../../recording/Fields.ts"
import * as api from "./api.ts"
import { approval, type Request } from "./approval.ts"
import { button, element } from "../../browser/Element.ts"
import { asText, labelled } from "./dom.ts"
import type { Act } from "./palette.ts"
import { LiveRows } from "./liveRows.ts"
import { words } from "./runList.ts"
import type { Answer, RunShown } from "./Wire.ts"

interface Acts {
  /** Shows another run. */
  readonly show: (id: string) => void
  readonly complain: (error: unknown) => void
}

export class RunPane {
  readonly root: HTMLElement = element("section", { class: "shown", "aria-label": "Run" })
  readonly #id: string
  readonly #acts: Acts
  readonly #rows = new LiveRows()
  readonly #head = element("h2", { class: "head" }, words.running)
  readonly #bar = element("p", { class: "acts" })
  readonly #cards = element("div", { class: "asking" })
  readonly #after = element("div", { class: "after" })
  readonly #requests = new Map<string, Request>()
  readonly #leaving = new AbortController()
  #timer: ReturnType<typeof setInterval> | undefined
  #last = 0
  #isFollowing = false
  #status: RunShown["status"] | undefined
  #prompt = ""
  /** The box for another prompt, which may be there before the events have come. */
  #promptBox: HTMLTextAreaElement | undefined

  constructor(id: string, acts: Acts) {
    this.#id = id
    this.#acts = acts
    this.root.append(this.#head, this.#bar, this.#cards, this.#rows.root, this.#after)
    this.#timer = setInterval(() => this.#rows.tick(Date.now()), 200)
    void this.#follow()
  }

  /** Ends what this pane waits for. */
  leave(): void {
    this.#leaving.abort()
    clearInterval(this.#timer)
  }

  /** Takes what the list of runs says about this run. */
  renew(run: RunShown, all: ReadonlyArray<RunShown>): void {
    const isNew = run.status !== this.#status
    this.#status = run.status
    const healed = run.healed === 0 ? "" : ` · ◆ ${run.healed} healed`
    this.#head.textContent = `${words[run.status]}${healed}${run.error === undefined ? "" : ` · ${run.error}`}`
    this.#head.className = `head is-${run.status.replace(" ", "-")}`
    document.title = run.status === "waiting" ? "△ waits for you" : `${words[run.status]} · ${run.agent}`
    if (isNew) this.#settle(run, all)
  }

  /** What a person can do with the run now. */
  acts(): ReadonlyArray<Act> {
    return [...this.#bar.querySelectorAll<HTMLElement>(":scope > button, :scope > a")]
      .filter(({ textContent }) => textContent !== "Say")
      .map((one) => ({ name: `This run: ${one.textContent}`, act: () => one.click() }))
  }

  #settle(run: RunShown, all: ReadonlyArray<RunShown>): void {
    const isAtWork = run.status === "running"
    this.#bar.replaceChildren(...(isAtWork ? this.#atWork() : this.#ended(run, all)))
    if (run.status !== "waiting") {
      this.#requests.clear()
      this.#ask()
    }
    const isOver = !isAtWork && run.status !== "waiting"
    if (isOver) clearInterval(this.#timer)
    this.#rows.root.hidden = isOver
    this.#after.replaceChildren(...(isOver ? this.#reportOf(run) : []))
  }

  #atWork(): ReadonlyArray<Node> {
    const box = element("input", { type: "text", "aria-label": "Say", placeholder: "say something to the run" })
    const say = () => {
      const text = box.value.trim()
      if (text === "") return
      box.value = ""
      api.say(this.#id, text).catch(this.#acts.complain)
    }
    box.addEventListener("keydown", ({ key }) => {
      if (key === "Enter") say()
    })
    const stop = button("Stop", () => void api.stop(this.#id).catch(this.#acts.complain), { class: "stop" })
    return [stop, box, button("Say", say)]
  }

  #ended(run: RunShown, all: ReadonlyArray<RunShown>): ReadonlyArray<Node> {
    const show = (starting: Promise<string>) => void starting.then(this.#acts.show, this.#acts.complain)
    const repeat = button("Run again", () => show(api.repeat(this.#id)))
    if (run.status === "waiting") return []
    const link = (href: string, text: string) => element("a", { href, target: "_blank", rel: "noreferrer" }, text)
    // the run that this one goes on from, or else the one before it
    const older = all.slice(all.findIndex(({ id }) => id === this.#id) + 1)
    const other = older.find(({ id }) => id === run.of?.id) ?? older.find(({ agent }) => agent === run.agent)
    return [
      repeat,
      this.#fromTurn(run, show),
      link(api.reportOf(this.#id), "Open the report"),
      ...(other === undefined ? [] : [link(api.comparisonOf(other.id, this.#id), "Compare with the run before")])
    ]
  }

  /** Runs repeat from a turn, with another prompt or a further input. */
  #fromTurn(run: RunShown, show: (starting: Promise<string>) => void): HTMLElement {
    const turn = element("input", {
      type: "number",
      min: 1,
      max: Math.max(1, run.turns),
      value: Math.max(1, run.turns)
    })
    const prompt = element("textarea", { rows: 3 })
    prompt.value = this.#prompt
    this.#promptBox = prompt
    const input = element("input", { type: "text", placeholder: "as it was" })
    const go = () => {
      const change = {
        turn: Number(turn.value),
        ...(prompt.value === this.#prompt ? {} : { prompt: prompt.value }),
        ...(input.value === "" ? {} : { input: input.value })
      }
      show(api.from(this.#id, change))
    }
    return element(
      "details",
      { class: "from" },
      element("summary", {}, "Run from a turn"),
      labelled("Turn", turn),
      labelled("Prompt", prompt),
      labelled("Input", input),
      button("Run from here", go)
    )
  }

  #reportOf(run: RunShown): ReadonlyArray<Node> {
    const missing = run.missing.length === 0 ? [] : [missingOf(run)]
    return [
      ...missing,
      element("iframe", { src: api.reportOf(this.#id), title: "The report of the run", class: "report" })
    ]
  }

  async #follow(): Promise<void> {
    this.#isFollowing = true
    try {
      this.#last = await api.follow(
        api.eventsOf(this.#id),
        this.#last,
        (event) => this.#take(event),
        this.#leaving.signal
      )
    } catch (error) {
      if (!this.#leaving.signal.aborted) this.#acts.complain(error)
    }
    this.#isFollowing = false
  }

  #take(event: unknown): void {
    this.#rows.take(event)
    const type = textAt(event, "type")
    if (type === "run-start" && this.#prompt === "") {
      const [first] = itemsOf(at(event, "transcript"))
      if (textAt(first, "role") === "system") this.#prompt = textAt(first, "text") ?? ""
      if (this.#promptBox?.value === "") this.#promptBox.value = this.#prompt
    }
    const digest = textAt(event, "request", "digest")
    if (type === "approval-requested" && digest !== undefined) {
      const json = at(event, "request")
      this.#requests.set(`${textAt(event, "runId")} ${textAt(event, "callId")}`, {
        digest,
        tool: textAt(json, "tool") ?? "",
        arguments: at(json, "arguments"),
        reason: textAt(json, "reason") ?? ""
      })
    }
    if (type === "approval-decided") this.#requests.delete(`${textAt(event, "runId")} ${textAt(event, "callId")}`)
    if (type === "run-suspended" || type === "approval-decided") this.#ask()
  }

  async #decide(digest: string, answer: Answer): Promise<void> {
    try {
      await api.decide(this.#id, digest, answer)
      // the stream of a run has ended if the run waited when the server began
      if (!this.#isFollowing) await this.#follow()
    } catch (error) {
      this.#acts.complain(error)
    }
  }

  /** Shows the requests that wait for a decision. */
  #ask(): void {
    this.#cards.replaceChildren(
      ...[...this.#requests.values()].map((request) =>
        approval(request, (digest, answer) => {
          void this.#decide(digest, answer)
        })
      )
    )
  }
}

// Mutant `["Stryker was here"]` survives: a text has no role either
const itemsOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** What to do about services that the run did not find. */
const missingOf = ({ agent, missing }: RunShown): HTMLElement => {
  const names = missing.map((key) => key.split("/").at(-1) ?? key)
  const paste = [
    `import { Layer } from "effect"`,
    `import { agent } from "./agent.ts"`,
    `import { ${names.join(", ")} } from "./services.ts"`,
    ``,
    `const layer = Layer.mergeAll(${names.map((name) => `Layer.succeed(${name}, { /* its functions */ })`).join(", ")})`,
    `export default { agent, layer }`
  ].join("\n")
  return element(
    "section",
    { class: "problem" },
    element("h3", {}, `${agent} needs services that the module does not provide: ${asText(missing.join(", "))}`),
    element("p", {}, "Serve a file serve.ts with layers, or choose made-up results for the tools."),
    element("pre", {}, paste)
  )
}
