/** Watches one run of a sweep: answers for its models, and records the facts that the invariants check. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { LlmError } from "../errors/LlmError.ts"
import type * as Model from "../model/Model.ts"
import * as RunContext from "../event/RunContext.ts"
import type * as AgentEvent from "../event/AgentEvent.ts"
import type * as Usage from "../data/Usage.ts"
import type { FaultStep } from "./faults.ts"
import * as ScriptedModel from "./ScriptedModel.ts"

/** One run of a tool with unsafe side effects. */
interface Start {
  readonly tool: string
  readonly runId: string
  readonly turn: number
  readonly callId: string
  readonly key: string
  /** How the tool ended; `cut off` if it did not end by itself. */
  readonly end: "success" | "failure" | "cut off"
  /** The result of a later lookup. */
  readonly lookedUp: "took effect" | "took none" | undefined
}

/** The recording of a run that has ended. */
export interface Recording {
  readonly events: ReadonlyArray<AgentEvent.AgentEvent>
  /** The events that the reader of a streamed run got. */
  readonly seen: ReadonlyArray<AgentEvent.AgentEvent> | undefined
  /** `undefined` if the run did not end within a day. */
  readonly exit: Exit.Exit<unknown, unknown> | undefined
  /** The instant of the interruption, and the number of events by then. */
  readonly interrupted: { readonly at: number; readonly events: number } | undefined
  /** The usage that the models have sent, reply by reply. */
  readonly sent: ReadonlyArray<Usage.Usage>
  readonly starts: ReadonlyArray<Start>
  /** The fibers and the unfinished steps at the end. */
  readonly left: { readonly fibers: number; readonly steps: number }
  /** The events and the steps of the day after the end. */
  readonly later: { readonly events: number; readonly steps: number }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** The recording of a program that runs under a sweep. */
export class Recorder {
  readonly steps: Array<FaultStep> = []
  readonly starts: Array<Mutable<Start>> = []
  readonly sent: Array<Usage.Usage> = []
  /** The last turn in which each agent was answered. */
  readonly asked = new Map<string, number>()
  /** Steps that were begun and have not ended. */
  unfinished = 0
  interruption: Recording["interrupted"]
  readonly #lines: Readonly<Record<string, ReadonlyArray<ScriptedModel.ScriptedStep>>>
  readonly #events: () => number

  constructor(lines: Readonly<Record<string, ReadonlyArray<ScriptedModel.ScriptedStep>>>, events: () => number) {
    this.#lines = lines
    this.#events = events
  }

  readonly reached = (step: FaultStep): void => {
    this.steps.push(step)
    if (step.of !== undefined) this.unfinished++
  }

  readonly ended = (): void => {
    this.unfinished--
  }

  readonly interrupted = (at: number): void => {
    this.interruption ??= { at, events: this.#events() }
  }

  readonly substitute = (step: FaultStep, self: Effect.Effect<unknown, unknown>): Effect.Effect<unknown, unknown> => {
    const { of } = step
    if (of?.type === "stream part" && of.part.type === "finish") {
      const { usage } = of.part
      // it was sent, and counts once the run has it
      this.sent.splice(this.sent.lastIndexOf(usage), 1)
      return Effect.tap(self, () => Effect.sync(() => this.sent.push(usage)))
    }
    if (of?.type === "tool attempt" && of.isUnsafe) return this.#started(step, of, self)
    if (of?.type === "look-up") {
      return Effect.tap(self, (found) =>
        Effect.sync(() => {
          const start = this.starts.findLast(({ key }) => key === of.idempotencyKey)
          const tookEffect = Option.isOption(found) && Option.isSome(found)
          if (start !== undefined) start.lookedUp = tookEffect ? "took effect" : "took none"
        })
      )
    }
    return self
  }

  #started(
    { runId = "", turn }: FaultStep,
    {
      callId,
      idempotencyKey,
      tool
    }: { readonly callId: string; readonly idempotencyKey: string; readonly tool: string },
    self: Effect.Effect<unknown, unknown>
  ): Effect.Effect<unknown, unknown> {
    return Effect.suspend(() => {
      const start: Mutable<Start> = {
        tool,
        runId,
        turn,
        callId,
        key: idempotencyKey,
        end: "cut off",
        lookedUp: undefined
      }
      this.starts.push(start)
      return Effect.onExit(self, (exit) =>
        Effect.sync(() => {
          const isOwn = Exit.isFailure(exit) && exit.cause.reasons.every(({ _tag }) => _tag === "Fail")
          start.end = Exit.isSuccess(exit) ? "success" : isOwn ? "failure" : "cut off"
        })
      )
    })
  }

  /** Answers by agent and turn: so a repeated model call gets the same answer. */
  readonly #next = Effect.flatMap(RunContext.Current, (run) =>
    Effect.suspend((): Effect.Effect<ScriptedModel.ScriptedStep> => {
      const agent = run?.agent ?? "no agent"
      const turn = Math.max(1, run?.turn() ?? 1)
      this.asked.set(agent, Math.max(this.asked.get(agent) ?? 0, turn))
      const lines = this.#lines[agent]
      const found = lines?.[turn - 1] ?? lines?.at(-1)
      return found === undefined
        ? Effect.die(new Error(`the script has no lines for the agent '${agent}'`))
        : Effect.succeed(found)
    })
  )

  /** Counts the usage that a failure reports as sent, too. */
  readonly #failed = ({ usage }: LlmError): Effect.Effect<void> =>
    Effect.sync(() => {
      if (usage !== undefined) this.sent.push(usage)
    })

  readonly model: Model.Service = {
    name: "scripted",
    provider: "scripted",
    generate: (request) =>
      Effect.flatMap(this.#next, ({ answer }) => answer(request)).pipe(
        Effect.tap(({ usage }) => Effect.sync(() => this.sent.push(usage))),
        Effect.tapError(this.#failed)
      ),
    stream: (request) =>
      Stream.unwrap(Effect.map(this.#next, (found) => ScriptedModel.streamOf(found, request))).pipe(
        Stream.tap((part) =>
          Effect.sync(() => {
            if (part.type === "finish") this.sent.push(part.usage)
          })
        ),
        Stream.tapError(this.#failed)
      )
  }
}
