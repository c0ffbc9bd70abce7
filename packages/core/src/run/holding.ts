/** Holds back the text of a reply until the user's words, and the reply itself, have passed the guardrails. */
import * as Effect from "effect/Effect"
import * as Message from "../data/Message.ts"
import * as RunContext from "../event/RunContext.ts"
import type * as Model from "../model/Model.ts"
import { ask, askMeanwhile, type Block, type Checked, type Guard, type GuardVerdict } from "./checking.ts"
import type { GuardedRun } from "./guards.ts"
import type { Attempting, Calling, Hold, Show } from "./modelCallState.ts"
import { passed } from "./passing.ts"

/** A guardrail that checks what the model says. */
export interface OutputGuard extends Guard {
  /** How much of a reply waits for the check: all of it, or the last `n` characters. */
  readonly hold: "all" | number
  /** Whether it also checks texts of replies that call tools. */
  readonly each: boolean
}

type Delta = Extract<Model.Part, { readonly type: "text-delta" | "reasoning-delta" }>

/** A verdict about the text so far of a reply that goes on. */
interface Early {
  readonly guard: Guard
  readonly verdict: GuardVerdict
}

interface Options {
  readonly guards: ReadonlyArray<OutputGuard>
  /** Waits until the user's words have passed; absent if they have passed already. */
  readonly gate?: Effect.Effect<void>
  /** Whether a call is the structured answer of the agent, whose arguments are checked like a text. */
  readonly isAnswer: (call: Message.ToolCall) => boolean
}

export class Holding implements Hold {
  readonly #running: GuardedRun
  readonly #options: Options
  /** The number of characters held back behind the checked text; `undefined` to hold back all. */
  readonly #behind: number | undefined
  /** The deltas of this attempt that are held back, and the whole text so far, with the text that the attempt continues. */
  #held: Array<Delta> = []
  #text = ""
  #reasoning = ""
  #shown = 0
  #passed = 0
  #early: Early | undefined
  #isThrough: boolean
  #show: Show = unseen
  /** Whether the output must not depend on how the reply is cut into deltas. */
  #isSteady = false
  blocked: (Block & { readonly reply: Message.Reply }) | undefined
  isEmptied = false

  get gate(): Effect.Effect<void> | undefined {
    return this.#options.gate
  }

  constructor(running: GuardedRun, options: Options) {
    this.#running = running
    this.#options = options
    this.#isThrough = options.gate === undefined
    const holds = options.guards.map(({ hold }) => hold)
    this.#behind = holds.reduce<number | undefined>(
      (most, hold) => (most === undefined || hold === "all" ? undefined : Math.max(most, hold)),
      0
    )
  }

  begin(before: string, isSteady = false): void {
    this.#isSteady = isSteady
    this.#held = []
    this.#text = before
    this.#reasoning = ""
    this.#shown = before.length
    this.#passed = before.length
    this.#early = undefined
    this.#show = unseen
    this.blocked = undefined
    this.isEmptied = false
  }

  /** Called when the user's words have passed: shows the text so far, if no other check holds it back. */
  readonly letThrough: Effect.Effect<void> = Effect.suspend(() => {
    this.#isThrough = true
    return this.#options.guards.length === 0 ? this.#show(this.#take(Infinity)) : Effect.void
  })

  parts(parts: ReadonlyArray<Model.Part>, show: Show): Effect.Effect<void> {
    const deltas = parts.filter(isDelta)
    if (deltas.length === 0) return Effect.void
    for (const delta of deltas) {
      this.#held.push(delta)
      if (delta.type === "text-delta") this.#text += delta.text
      else this.#reasoning += delta.text
    }
    this.#show = show
    // the finish part is among them, so the whole reply is checked at once
    if (parts.some(({ type }) => type === "finish")) return Effect.void
    if (this.#isThrough) return this.#release(show)
    const { gate = Effect.void } = this.#options
    return this.#isSteady ? Effect.andThen(gate, () => this.#release(show)) : Effect.void
  }

  reply(reply: Message.Reply, show: Show): Effect.Effect<Message.Reply> {
    return Effect.andThen(
      this.#options.gate ?? Effect.void,
      Effect.suspend(() => this.#checked(reply, this.#running.run.isStreamed === true ? show : unseen))
    )
  }

  passed(call: Calling, attempting: Attempting, reply: Message.Reply): Effect.Effect<Message.Reply> {
    return passed(this, call, attempting, reply)
  }

  /** Checks the text so far, and shows the part of it that passed. */
  #release(show: Show): Effect.Effect<void> {
    const { guards } = this.#options
    if (guards.length === 0) return show(this.#take(Infinity))
    const behind = this.#isSteady ? undefined : this.#behind
    if (behind === undefined || this.#early !== undefined) return Effect.void
    const length = this.#text.length + this.#reasoning.length
    // the text is checked each time it has grown by 1/16, so all checks together read it only a few times
    if (length - this.#passed < Math.max(behind, this.#passed / 16, 1)) return Effect.void
    const run = this.#running.run
    const checked = this.#checking(this.#text, this.#reasoning, false)
    const asked = Effect.findFirst(guards, (guard, index) =>
      Effect.map(askMeanwhile(run, guard, this.#key(index), checked), (verdict) => {
        if (verdict.type === "pass") return false
        this.#early = { guard, verdict }
        return true
      })
    )
    return Effect.flatMap(asked, () => {
      if (this.#early !== undefined) return Effect.void
      this.#passed = length
      return show(this.#take(length - behind - this.#shown))
    })
  }

  /** Checks a whole reply with each guardrail in turn. */
  #checked(reply: Message.Reply, show: Show): Effect.Effect<Message.Reply> {
    const { run } = this.#running
    const calls = Message.callsOf(reply)
    const answers = calls.filter((call) => this.#options.isAnswer(call))
    const isAnswer = (calls.length === 0 || answers.length > 0) && reply.finish !== "paused"
    const written = [Message.textOf(reply), ...answers.map(({ arguments: args }) => textOf(args))]
    const text = written.filter((one) => one !== "").join("\n")
    const reasoning = reply.content.flatMap((part) => (part.type === "reasoning" ? part.text : [])).join("")
    const due = this.#options.guards.filter(({ each }) => isAnswer || each)
    if (due.length === 0 || text + reasoning === "") return Effect.as(show(this.#take(Infinity)), reply)
    return Effect.gen({ self: this }, function* () {
      let passing = text
      let isReplaced = false
      for (const guard of due) {
        const early =
          this.#early?.guard === guard && this.#early.verdict.type === "block" ? this.#early.verdict : undefined
        const key = this.#key(this.#options.guards.indexOf(guard))
        const verdict = yield* ask(run, guard, key, this.#checking(passing, reasoning, true), early)
        if (verdict.type === "block" || (verdict.type === "replace" && answers.length > 0)) {
          const reason = verdict.type === "block" ? verdict.reason : "the arguments of a call cannot be replaced"
          this.blocked = { guard: guard.name, reason, reply }
          this.isEmptied = true
          yield* show([], true)
          return { ...reply, content: [] }
        }
        const { name, side } = guard
        yield* RunContext.emit(run, () => ({ type: "guardrail", guard: name, side, verdict: verdict.type }))
        if (verdict.type === "pass") continue
        passing = verdict.text
        isReplaced = true
      }
      if (!isReplaced) {
        yield* show(this.#take(Infinity))
        return reply
      }
      this.isEmptied = passing === ""
      yield* show(this.isEmptied ? [] : [{ type: "text-delta", text: passing }], true)
      return { ...reply, content: replaced(reply.content, passing, calls.length > 0) }
    })
  }

  #checking(text: string, reasoning: string, isWhole: boolean): () => Checked {
    const { run, state } = this.#running
    const { agent, runId } = run
    return () => ({ agent, runId, side: "output", text, reasoning, isWhole, transcript: state.transcript() })
  }

  #key(index: number): string {
    const { run } = this.#running
    return `${run.runId}/${run.turn()}/guardrail-output-${index}`
  }

  /** Takes the next characters of the deltas that are held back. */
  #take(characters: number): ReadonlyArray<Delta> {
    const taken: Array<Delta> = []
    let left = characters
    // Mutant `left >= 0` survives: of a delta, which is never empty, no characters are then taken
    while (left > 0 && this.#held[0] !== undefined) {
      const first = this.#held[0]
      const size = first.text.length <= left ? first.text.length : whole(first.text, left)
      if (size === 0) break
      const rest = first.text.slice(size)
      taken.push({ type: first.type, text: first.text.slice(0, size) })
      if (rest === "") this.#held.shift()
      else this.#held[0] = { type: first.type, text: rest }
      this.#shown += size
      left -= size
    }
    return taken
  }
}

const isDelta = (part: Model.Part): part is Delta =>
  (part.type === "text-delta" || part.type === "reasoning-delta") && part.text !== ""

/** A run that is not streamed shows no deltas. */
const unseen: Show = () => Effect.void

/** The size, made smaller by one if it would cut a character in two. */
const whole = (text: string, size: number): number => {
  const last = text.charCodeAt(size - 1)
  return last >= 0xd800 && last <= 0xdbff ? size - 1 : size
}

const textOf = (args: Message.ToolCall["arguments"]): string => (typeof args === "string" ? args : JSON.stringify(args))

/**
 * The content with the replacement in the place of the text. Thoughts are removed with a replaced answer, and stay before tool calls, which
 * may need them.
 */
const replaced = (content: Message.Reply["content"], text: string, hasCalls: boolean): Message.Reply["content"] => {
  const others = content.filter(({ type }) => type !== "text" && (hasCalls || type !== "reasoning"))
  const at = others.findLastIndex(({ type }) => type === "reasoning") + 1
  // several providers refuse an empty text
  return [...others.slice(0, at), ...(text === "" ? [] : [Message.text(text)]), ...others.slice(at)]
}
