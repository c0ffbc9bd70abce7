/** The rows of a run at work: model calls and tool calls that tick, what they say, and the verdicts about their failures. */
import { messageOf, tagOf } from "../../recording/ErrorWords.ts"
import { at, flagAt, numberAt, textAt } from "../../recording/Fields.ts"
import { element } from "../../browser/Element.ts"
import { clip, duration } from "../../text/Words.ts"
import { asText } from "./dom.ts"

interface Row {
  readonly root: HTMLElement
  readonly since: number
  readonly time: HTMLElement
  /** What the model says, or what the tool has given. */
  readonly said: HTMLElement
}

export class LiveRows {
  readonly root: HTMLElement = element("ol", { class: "rows", "aria-label": "Events of the run" })
  /** The rows at work, by their calls. */
  readonly #working = new Map<string, Row>()

  /** Takes an event of the run in its JSON form. */
  take(event: unknown): void {
    const [type, call] = [textAt(event, "type"), `${textAt(event, "runId")} ${textAt(event, "callId")}`]
    const model = `${textAt(event, "runId")} model`
    switch (type) {
      case "model-start":
        this.#begin(model, event, textAt(event, "model") ?? "model", "model")
        break
      case "text-delta":
        this.#working.get(model)?.said.append(textAt(event, "text") ?? "")
        break
      case "model-end":
        this.#end(model, event, "well")
        break
      case "model-failed":
        this.#end(model, event, "failed", errorIn(event))
        break
      case "model-interrupted":
        this.#end(model, event, "failed", "interrupted")
        break
      case "tool-start":
        this.#begin(call, event, `${textAt(event, "tool")} ${clip(asLine(at(event, "arguments")), 90)}`, "tool")
        break
      case "tool-failed":
        this.#note(call, `✕ ${errorIn(event)}`, "failed")
        break
      case "tool-end":
        this.#end(
          call,
          event,
          textAt(event, "use", "settlement", "kind") === "result" ? "well" : "failed",
          textAt(event, "use", "settlement", "text")
        )
        break
      case "tool-denied":
      case "tool-skipped":
        this.#end(call, event, "failed", textAt(event, "settlement", "text"))
        break
      case "arguments-coerced":
        this.#note(call, `◆ broken arguments repaired: ${textAt(event, "change", "step") ?? ""}`, "gold")
        break
      case "verdict":
        this.#verdict(event, textAt(event, "callId") === undefined ? model : call)
        break
      default:
    }
  }

  #verdict(event: unknown, key: string): void {
    const [verdict, tag] = [textAt(event, "verdict"), textAt(event, "tag")]
    const isLost = flagAt(event, "gaveUp") || verdict === "rethrow" || verdict === "raise" || verdict === "escalate"
    const wait = numberAt(event, "delay") ?? 0
    const words = isLost
      ? `✕ ${verdict} after ${tag}`
      : `◆ ${verdict} after ${tag}${wait === 0 ? "" : `, in ${duration(wait)}`}`
    this.#note(key, words, isLost ? "failed" : "gold")
  }

  #begin(key: string, event: unknown, title: string, kind: string): void {
    // a call goes on after it has waited for a person
    if (kind === "tool" && this.#working.has(key)) return
    const time = element("span", { class: "time" }, "0 ms")
    const said = element("pre", { class: "said" })
    const root = element(
      "li",
      { class: `row is-${kind} is-open` },
      element("span", { class: "title" }, title),
      time,
      said
    )
    this.#working.set(key, { root, time, said, since: numberAt(event, "at") ?? Date.now() })
    this.root.append(root)
  }

  #end(key: string, event: unknown, how: "well" | "failed", words?: string): void {
    const row = this.#working.get(key)
    if (row === undefined) return
    this.#working.delete(key)
    row.root.classList.remove("is-open")
    row.root.classList.add(`is-${how}`)
    row.time.textContent = duration((numberAt(event, "at") ?? Date.now()) - row.since)
    if (words !== undefined) row.said.append(clip(words, 400))
  }

  #note(key: string, words: string, tone: "gold" | "failed"): void {
    const note = element("p", { class: `note is-${tone}` }, words)
    const row = this.#working.get(key)
    if (row === undefined) this.root.append(element("li", { class: "row" }, note))
    else row.root.append(note)
  }

  /** Shows how long the rows at work have lasted. */
  tick(now: number): void {
    for (const { since, time } of this.#working.values()) time.textContent = duration(Math.max(0, now - since))
  }
}

const errorIn = (event: unknown): string => clip(`${tagOf(at(event, "error"))}: ${messageOf(at(event, "error"))}`, 200)

const asLine = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? asText(value))
