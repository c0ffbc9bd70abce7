/**
 * The guardrails of an agent: checks of what the user says, and of what the model says. Only `Agent.guardInput` and `Agent.guardOutput` import
 * this file.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Message from "../data/Message.ts"
import * as Usage from "../data/Usage.ts"
import type { Snapshot } from "../event/Checkpoint.ts"
import * as RunContext from "../event/RunContext.ts"
import type * as Model from "../model/Model.ts"
import { leavesOf } from "../model/ModelCall.ts"
import * as Render from "../recovery/Render.ts"
import * as Toolset from "../tool/Toolset.ts"
import { ending, errorOf, reminder, type Row } from "./blocking.ts"
import * as RunBudget from "./budget.ts"
import { ask, type Block, type Checked, failed, type Guard } from "./checking.ts"
import { Holding, type OutputGuard } from "./holding.ts"
import type { Begun, Guarded, GuardedRun, Guards, Instead } from "./guards.ts"
import type { Hold } from "./modelCallState.ts"

export type { Checked, GuardVerdict } from "./checking.ts"
export type { OutputGuard } from "./holding.ts"

/** A guardrail of what a user says. */
export interface InputGuard extends Guard {
  readonly mode: "beside" | "before"
}

interface Options {
  readonly inputs: ReadonlyArray<InputGuard>
  readonly outputs: ReadonlyArray<OutputGuard>
  readonly onInput: Row | undefined
  readonly onOutput: Row | undefined
  /** How many times the model is told that its answer was withheld, before the run fails. */
  readonly retries: number
}

/** Words of the user, and the guardrails that have passed them. */
interface Words {
  readonly original: Message.User
  message: Message.User
  readonly passed: Set<InputGuard>
}

/** Words of the user that a guardrail has blocked. */
interface Blocked extends Block {
  readonly words: Words
}

/** The tools and the model of a model call. */
type Called = { readonly toolset: Toolset.Toolset; readonly model: Model.Service }

class Memory implements Guarded {
  unchecked: ReadonlyArray<Words>
  withheld: number
  /** The words of the user that were blocked before the model call. */
  blocked: Blocked | undefined

  readonly #hasChecks: boolean

  constructor(unchecked: ReadonlyArray<Message.User>, withheld: number, hasChecks: boolean) {
    this.unchecked = unchecked.map(wordsOf)
    this.withheld = withheld
    this.#hasChecks = hasChecks
  }

  hear(message: Message.User): void {
    if (this.#hasChecks) this.unchecked = [...this.unchecked, wordsOf(message)]
  }

  record(messages: Message.Transcript): NonNullable<Snapshot["guards"]> {
    return { unchecked: this.unchecked.map(({ message }) => messages.indexOf(message)), withheld: this.withheld }
  }
}

/** Messages that the run itself has written are not checked as words of the user, and withheld words are not checked twice. */
const own: ReadonlySet<string> = new Set([Render.stopped, Render.lastTurn])

const isOfUser = (message: Message.Message): message is Message.User =>
  message.role === "user" && !Message.isWithheld(message) && !own.has(Message.textOf(message))

const wordsOf = (message: Message.User): Words => ({ original: message, message, passed: new Set() })

// `begin` has created this memory
const memoryOf = ({ state }: GuardedRun): Memory => state.guarded as Memory

export class Guarding implements Guards {
  readonly #options: Options

  constructor(options: Options = { inputs: [], outputs: [], onInput: undefined, onOutput: undefined, retries: 1 }) {
    this.#options = options
  }

  /** The same with more. */
  with(options: (before: Options) => Partial<Options>): Guarding {
    return new Guarding({ ...this.#options, ...options(this.#options) })
  }

  get checks(): Guards["checks"] {
    const { inputs, outputs } = this.#options
    const ofInput = inputs.map((guard) => ({ ...guard, isRepeated: false }))
    return [...ofInput, ...outputs.map((guard) => ({ ...guard, isRepeated: guard.hold !== "all" }))]
  }

  begin({ from, isNew, said }: Begun, messages: Message.Transcript): Guarded {
    const memory = from?.guards
    const before = (memory?.unchecked ?? []).flatMap((index) => {
      const message = from?.transcript[index]
      return message?.role === "user" ? message : []
    })
    // words before the last reply have passed in an earlier run; the snapshot lists the later words that have not passed
    const answered = messages.findLastIndex(({ role }) => role === "assistant") + 1
    const isAdded = (message: Message.Message) => memory === undefined || (isNew && message === said.message)
    const added = messages.slice(answered).flatMap((message) => (isOfUser(message) && isAdded(message) ? message : []))
    const hasChecks = this.#options.inputs.length > 0
    return new Memory(hasChecks ? [...new Set([...before, ...added])] : [], memory?.withheld ?? 0, hasChecks)
  }

  first<Run extends GuardedRun>(
    running: Run,
    next: (running: Run) => Effect.Effect<unknown, unknown, Model.Model>
  ): Effect.Effect<unknown, unknown, Model.Model> {
    const { unchecked } = memoryOf(running)
    return Effect.flatMap(this.#input(running, this.#options.inputs), (block) => {
      if (block !== undefined) return Effect.map(this.#blockedInput(running, block), ({ value }) => value)
      return next({ ...running, beginning: withReplaced(running.beginning, unchecked) })
    })
  }

  before<Request, E>(
    running: GuardedRun & { readonly model: Model.Service },
    next: () => Effect.Effect<Request, E>,
    otherwise: () => Request
  ): Effect.Effect<Request, E> {
    const first = this.#first(running.model)
    const memory = memoryOf(running)
    if (first.length === 0 || memory.unchecked.length === 0) return next()
    return Effect.flatMap(this.#input(running, first), (block) => {
      memory.blocked = block
      return block === undefined ? RunBudget.spent(running.run, next) : Effect.sync(otherwise)
    })
  }

  around<Asked extends { readonly type: string }>(
    running: GuardedRun & Called,
    isOnce: boolean,
    call: (hold: Hold) => Effect.Effect<Asked, unknown>
  ): Effect.Effect<Asked | Instead, unknown> {
    const { blocked } = memoryOf(running)
    if (blocked !== undefined) return this.#blockedInput(running, blocked)
    // the final turn has no safe point, and `prepareTurn` may have chosen another model for this turn
    return Effect.flatMap(this.#input(running, this.#first(running.model)), (block) =>
      block === undefined ? this.#guarded(running, isOnce, call) : this.#blockedInput(running, block)
    )
  }

  given(running: GuardedRun, value: unknown): Effect.Effect<unknown, unknown> {
    const guards = this.#options.outputs
    // only text is checked
    // Mutant `false` for `guards.length === 0` survives: speed only
    if (guards.length === 0 || !Predicate.isString(value)) return Effect.succeed(value)
    // Mutant `true` survives: this reply has no call
    const hold = new Holding(running, { guards, isAnswer: () => false })
    const reply: Message.Reply = { content: [Message.text(value)], finish: "stop", usage: Usage.empty }
    return Effect.flatMap(
      hold.reply(reply, () => Effect.void),
      (passed) =>
        hold.blocked === undefined
          ? Effect.succeed(Message.textOf(passed))
          : Effect.map(this.#blockedOutput(running, hold.blocked), ({ value }) => value)
    )
  }

  /** The guardrails that must pass before this model is called: the run cannot undo what a provider does on its own side. */
  #first(model: Model.Service): ReadonlyArray<InputGuard> {
    const { inputs } = this.#options
    const isElsewhere = leavesOf(model).some(({ providerTools }) => providerTools === true)
    return isElsewhere ? inputs : inputs.filter(({ mode }) => mode === "before")
  }

  #guarded<Asked extends { readonly type: string }>(
    running: GuardedRun & Called,
    isOnce: boolean,
    call: (hold: Hold) => Effect.Effect<Asked, unknown>
  ): Effect.Effect<Asked | Instead, unknown> {
    const { outputs } = this.#options
    // without a guardrail of the input, nothing is unchecked
    const memory = memoryOf(running)
    const hasPassed = memory.unchecked.length === 0
    const passed = Deferred.makeUnsafe<void>()
    const gate = Deferred.await(passed)
    const isAnswer = (call: Message.ToolCall) => isBuiltIn(running.toolset, call)
    const hold = new Holding(running, { guards: outputs, isAnswer, ...(hasPassed ? {} : { gate }) })
    const calling = Effect.suspend(() => call(hold))
    if (hasPassed) return Effect.flatMap(calling, (asked) => this.#said(running, isOnce, hold, asked))
    // a row of `onLlmError` may answer before the words of the user have passed
    const asked = Effect.tap(calling, ({ type }) => (type === "interrupted" ? Effect.void : gate))
    const beside = Effect.matchEffect(this.#beside(running), {
      onFailure: (block) => Effect.succeed({ block }),
      onSuccess: () =>
        Effect.andThen(Effect.andThen(hold.letThrough, Deferred.succeed(passed, undefined)), Effect.never)
    })
    const first = Effect.raceFirst(
      Effect.map(asked, (asked) => ({ asked })),
      beside
    )
    return Effect.flatMap(first, (ended): Effect.Effect<Asked | Instead, unknown> =>
      "block" in ended ? this.#blockedInput(running, ended.block) : this.#said(running, isOnce, hold, ended.asked)
    )
  }

  /** Asks the guardrails one after the other about the user's words, and returns the first block. */
  #input(running: GuardedRun, guards: ReadonlyArray<InputGuard>): Effect.Effect<Blocked | undefined> {
    const memory = memoryOf(running)
    // Mutants `false` for `guards.length === 0`, `false` for `memory.unchecked.length === 0` survive: speed only
    if (guards.length === 0 || memory.unchecked.length === 0) return Effect.undefined
    return Effect.gen({ self: this }, function* () {
      for (const words of memory.unchecked) {
        for (const guard of guards) {
          if (words.passed.has(guard)) continue
          const block = yield* Effect.flip(this.#asked(running, words, guard)).pipe(
            Effect.catch(() => Effect.undefined)
          )
          if (block !== undefined) return block
        }
      }
      this.#settle(memory)
      return undefined
    })
  }

  /** Asks all remaining guardrails about the user's words at once. */
  #beside(running: GuardedRun): Effect.Effect<void, Blocked> {
    const memory = memoryOf(running)
    const pairs = memory.unchecked.flatMap((words) =>
      this.#options.inputs.flatMap((guard) => (words.passed.has(guard) ? [] : { words, guard }))
    )
    const checks = Effect.forEach(pairs, ({ guard, words }) => this.#asked(running, words, guard), {
      concurrency: "unbounded",
      discard: true
    })
    return Effect.map(checks, () => this.#settle(memory))
  }

  #settle(memory: Memory): void {
    memory.unchecked = memory.unchecked.filter(({ passed }) => this.#options.inputs.some((guard) => !passed.has(guard)))
  }

  #asked({ run, state }: GuardedRun, words: Words, guard: InputGuard): Effect.Effect<void, Blocked> {
    const { name, side } = guard
    const index = state.messages.indexOf(words.message)
    const key = `${run.runId}/guardrail-input-${this.#options.inputs.indexOf(guard)}/${index}`
    const { agent, runId } = run
    const checked = (): Checked => ({
      agent,
      runId,
      side,
      text: Message.textOf(words.message),
      reasoning: "",
      isWhole: true,
      transcript: Message.withoutWithheld(state.messages.slice(0, index + 1))
    })
    return Effect.flatMap(ask(run, guard, key, checked), (said): Effect.Effect<void, Blocked> => {
      const message = said.type === "replace" ? saying(words.message, said.text) : words.message
      // no provider takes a message without content
      const isEmptied = said.type === "replace" && message.content.length === 0
      const verdict = isEmptied ? failed(guard, "an empty text leaves nothing of this message") : said
      if (verdict.type === "block") return Effect.fail({ guard: name, reason: verdict.reason, words })
      words.passed.add(guard)
      if (verdict.type === "pass")
        return RunContext.emit(run, () => ({ type: "guardrail", guard: name, side, verdict: "pass" }))
      const replace = () => {
        state.replace(words.message, message)
        words.message = message
      }
      const happened = () => ({ type: "guardrail", guard: name, side, verdict: "replace", index, message }) as const
      return RunContext.record(run, replace, happened, () => Effect.void)
    })
  }

  /** Ends the run, or answers, as the row for blocked input says. No model reads the blocked words, in this run or a later one. */
  #blockedInput(
    running: GuardedRun,
    { guard, reason, words: { message } }: Blocked
  ): Effect.Effect<{ readonly type: "answered"; readonly value: unknown }, unknown> {
    const { run, state } = running
    const memory = memoryOf(running)
    memory.unchecked = []
    memory.blocked = undefined
    state.drop()
    const withhold = () => {
      const index = state.messages.indexOf(message)
      state.replace(message, { ...message, withheld: true })
      return { index, message: Message.blankWords }
    }
    return RunContext.record(
      run,
      withhold,
      (withheld) => ({ type: "guardrail", guard, side: "input", verdict: "block", reason, ...withheld }),
      () => ending(this.#options.onInput, errorOf(running, "input", { guard, reason }))
    )
  }

  /** Handles a reply: shows it to readers, or does what the row says if a guardrail blocked it. */
  #said<Asked>(
    running: GuardedRun,
    isOnce: boolean,
    hold: Holding,
    asked: Asked
  ): Effect.Effect<Asked | Instead, unknown> {
    const { blocked } = hold
    if (blocked === undefined) return Effect.succeed(asked)
    const { run, state } = running
    const memory = memoryOf(running)
    const row = this.#options.onOutput
    const { reply } = blocked
    const isRetried = row?.kind === "tell" && !isOnce && memory.withheld < this.#options.retries
    const withhold = () =>
      state.close({ role: "assistant", content: Message.settle(reply, []).content, withheld: true })
    const ended = (): Effect.Effect<Instead, unknown> => {
      if (!isRetried) return this.#blockedOutput(running, blocked)
      return Effect.flatMap(reminder(row, errorOf(running, "output", blocked), memory.withheld + 1), (text) => {
        const tell = () => {
          const message = Message.user(text)
          memory.withheld++
          state.add(message)
          return message
        }
        return RunContext.record(
          run,
          tell,
          (message) => ({ ...blockOf(blocked), message }),
          () => Effect.succeed<Instead>({ type: "interrupted" })
        )
      })
    }
    return RunBudget.warn(run, () =>
      RunContext.record(run, withhold, () => ({ type: "turn-end", message: Message.blank }), ended)
    )
  }

  /** Ends the run, or answers, as the row for blocked output says. */
  #blockedOutput(running: GuardedRun, block: Block): ReturnType<typeof ending> {
    return RunContext.emitThen(
      running.run,
      () => blockOf(block),
      () => ending(this.#options.onOutput, errorOf(running, "output", block))
    )
  }
}

const blockOf = ({ guard, reason }: Block) =>
  ({ type: "guardrail", guard, side: "output", verdict: "block", reason }) as const

/** Whether a call is the structured answer of the agent: its arguments end the run. */
const isBuiltIn = (toolset: Toolset.Toolset, call: Message.ToolCall): boolean =>
  toolset.entries.get(Toolset.nameOf(toolset, call))?.tool.isBuiltIn === true

/** The message with these words in the place of its texts. Its images and files stay. */
const saying = (message: Message.User, text: string): Message.User => {
  const others = message.content.filter(({ type }) => type !== "text")
  return { ...message, content: text === "" ? others : [Message.text(text), ...others] }
}

/** The beginning of a run in which a guardrail has replaced words of the user. */
const withReplaced = (begun: Begun, all: ReadonlyArray<Words>): Begun => {
  // Mutant `false` survives: speed only
  if (all.every(({ message, original }) => message === original)) return begun
  const after = new Map<Message.Message, Message.User>(all.map(({ message, original }) => [original, message]))
  const { said } = begun
  const message = after.get(said.message) ?? said.message
  const swapped = (messages: ReadonlyArray<Message.Message>) => messages.map((one) => after.get(one) ?? one)
  return {
    ...begun,
    said: message === said.message ? said : { message, text: Message.textOf(message) },
    messages: (prompt) => swapped(begun.messages(prompt)),
    messagesFor: (prompt) => swapped(begun.messagesFor(prompt))
  }
}
