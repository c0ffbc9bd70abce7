/**
 * A second run, of all that the first has not: a model chooses the skill, an agent works as a tool, calls have a time of their own
 * and need approval, a limit is reached and extended; or the run is suspended at each of these, stored as JSON, and goes on.
 */
import {
  Agent,
  Approval,
  Budget,
  LlmError,
  Message,
  Model,
  Recovery,
  Skill,
  Snapshot,
  Tool,
  Usage
} from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Layer, Schema, Stream } from "effect"
import { toParts } from "../../../packages/core/src/testing/ScriptedModel.ts"
import { busy } from "../../_support/dialogue.ts"
import type { Injection, Layer as StepLayer, Steps } from "./steps.ts"
import { inSilence, limitsOf, type Mode, stage, type Start } from "./story.ts"

const { call, reply } = ScriptedModel
const { text } = Message

/** What the worker says, turn by turn. */
const lines: ReadonlyArray<Message.Reply["content"]> = [
  [text("Let me see."), call("look", { n: 1 }, "c1"), call("look", { n: 2 }, "c2")],
  [call("look", { n: 3 }, "c3"), call("ask", { input: "Is it dear?" }, "c4")],
  [call("pay", { n: 5 }, "c5"), call("look", { n: 6 }, "c6")],
  [text("And again."), call("pay", { n: 7 }, "c7")],
  [text("All is paid.")]
]

/** What the expert says. */
const advice: ReadonlyArray<Message.Reply["content"]> = [[call("check", { n: 9 }, "e1")], [text("It is cheap.")]]

const overloaded = () => LlmError.ModelOverloadedError.make({ model: "scripted" })

const turnOf = ({ messages }: Model.Request) => messages.filter(({ role }) => role === "assistant").length

const jobOf = (id: number) =>
  reply({
    content: [{ type: "provider-item", kind: "background_job", opaque: { provider: "scripted", data: { id } } }],
    finish: "paused",
    usage: Usage.empty
  })

interface Job {
  isAnswered: boolean
  cancels: number
}

/** The same model, whose provider makes its replies in the background: the first request of each only begins it. */
const inBackground = (
  model: Layer.Layer<Model.Model>,
  steps: Steps,
  jobs: Array<Job>,
  usage: () => Usage.Usage
): Layer.Layer<Model.Model> =>
  Layer.effect(
    Model.Model,
    Effect.map(Effect.provide(Effect.service(Model.Model), model), (inner) => {
      const namedBy = ({ messages }: Model.Request): Job | undefined => {
        const last = messages.at(-1)
        const item = last?.role === "assistant" && last.paused === true ? last.content[0] : undefined
        return item?.type === "provider-item" ? jobs[Number(Object(item.opaque.data).id)] : undefined
      }
      const begin = (request: Model.Request) => {
        const begun = Effect.sync(() => {
          const named = jobOf(jobs.push({ isAnswered: false, cancels: 0 }) - 1)
          for (const part of named.content) if (part.type === "provider-item") request.background?.begun(part)
          return named
        })
        // at an instant at which no snapshot is read
        const step = steps.effect("expert", "begin", `turn ${turnOf(request) + 1}`, begun, overloaded)
        return Effect.andThen(Effect.sleep(3), step)
      }
      const withoutLast = (request: Model.Request) => ({ ...request, messages: request.messages.slice(0, -1) })
      return {
        ...inner,
        background: {
          cancel: (request) =>
            Effect.sync(() => {
              const job = namedBy(request)
              if (job === undefined) return undefined
              job.cancels++
              return job.isAnswered ? undefined : usage()
            })
        },
        generate: (request) => {
          const job = namedBy(request)
          return job === undefined
            ? begin(request)
            : Effect.tap(inner.generate(withoutLast(request)), () => Effect.sync(() => (job.isAnswered = true)))
        },
        stream: (request) => {
          const job = namedBy(request)
          return job === undefined
            ? Stream.unwrap(Effect.map(begin(request), (named) => Stream.fromIterable(toParts(named))))
            : Stream.tap(inner.stream(withoutLast(request)), ({ type }) =>
                Effect.sync(() => (job.isAnswered ||= type === "finish"))
              )
        }
      }
    })
  )

/** What the models have sent and were asked: each reply has another usage, so that no sum is that of other replies. */
const stageModels = (steps: Steps) => {
  const sent: Array<Usage.Usage> = []
  const requests: Array<Model.Request> = []
  const jobs: Array<Job> = []
  let replies = 0
  const speaking = (
    name: StepLayer,
    layerOf: (request: Model.Request) => StepLayer,
    contentOf: (request: Model.Request) => Message.Reply["content"]
  ): Layer.Layer<Model.Model> => {
    const answer = (request: Model.Request) =>
      Effect.andThen(
        Effect.sleep(7),
        Effect.sync(() =>
          reply({ content: contentOf(request), usage: Usage.make({ inputTokens: 2 ** ++replies, outputTokens: 1 }) })
        )
      )
    const nameOf = (request: Model.Request) => `turn ${turnOf(request) + 1}`
    const send = (usage: Usage.Usage) => Effect.sync(() => void sent.push(usage))
    const note = (request: Model.Request) => {
      if (layerOf(request) === "model") requests.push({ ...request, messages: [...request.messages] })
    }
    return Layer.succeed(Model.Model, {
      name,
      provider: "scripted",
      generate: (request) =>
        Effect.suspend(() => {
          note(request)
          const asked = steps.effect(layerOf(request), "call", nameOf(request), answer(request), overloaded)
          return Effect.tap(asked, ({ usage }) => send(usage))
        }),
      stream: (request) =>
        Stream.unwrap(
          Effect.suspend(() => {
            note(request)
            const layer = layerOf(request)
            const part = (one: Model.Part) => {
              const passing = steps.effect(
                layer,
                "part",
                `${nameOf(request)}, ${one.type}`,
                Effect.succeed(one),
                overloaded
              )
              return one.type === "finish" ? Effect.tap(passing, send(one.usage)) : passing
            }
            const parts = Effect.map(answer(request), (whole) =>
              Stream.mapEffect(Stream.fromIterable(toParts(whole)), part)
            )
            return steps.effect(layer, "call", nameOf(request), parts, overloaded)
          })
        )
    })
  }
  const routing = [text('{"name": "work", "confidence": 1}')]
  return {
    sent,
    requests,
    worker: speaking(
      "model",
      ({ tools }) => (tools.length === 0 ? "router" : "model"),
      (request) => (request.tools.length === 0 ? routing : (lines[turnOf(request)] ?? []))
    ),
    jobs,
    expert: inBackground(
      speaking(
        "expert",
        () => "expert",
        (request) => advice[turnOf(request)] ?? []
      ),
      steps,
      jobs,
      () => {
        const usage = Usage.make({ inputTokens: 2 ** ++replies, outputTokens: 1 })
        sent.push(usage)
        return usage
      }
    )
  }
}

const stageTools = (steps: Steps, model: Layer.Layer<Model.Model>) => {
  const starts: Array<Start> = []
  const common = {
    description: "d",
    parameters: Schema.Struct({ n: Schema.Finite }),
    success: Schema.String,
    callTimeout: "10 seconds"
  } as const
  const run = (name: string, n: number, { attempt }: Tool.ToolContext) =>
    steps.effect(
      "tool",
      "attempt",
      `${name} ${n}, attempt ${attempt}`,
      Effect.as(Effect.sleep(20), `${name} ${n}`),
      busy
    )
  const look = Tool.make("look", {
    ...common,
    sideEffects: "none",
    run: ({ n }, context) => run("look", n, context)
  }).pipe(
    Tool.onError({
      Busy: Recovery.ladder(Recovery.retry({ retries: 1, initialBackoff: "1 second" }), Recovery.tell())
    })
  )
  // the provider declares it
  const check = Tool.provider("check", ({ n }, context) => run("check", Number(n), context))
  const expert = Agent.make("expert", {
    model,
    skills: [Skill.make("advise", { description: "d", tools: [check] })]
  }).pipe(Agent.toolDefaults({ orElse: Recovery.tell() }))
  const ask = Agent.asTool(expert, { name: "ask", description: "d" })
  const pay = Tool.make("pay", {
    ...common,
    sideEffects: "unsafe",
    run: ({ n }, context) =>
      Effect.suspend(() => {
        const { callId, idempotencyKey: key } = context
        const start: Start = { callId, key, end: "cut off", lookedUp: undefined }
        starts.push(start)
        return Effect.onExit(run("pay", n, context), (exit) =>
          Effect.sync(() => {
            const isOwn = Exit.isFailure(exit) && exit.cause.reasons.every(({ _tag }) => _tag === "Fail")
            start.end = Exit.isSuccess(exit) ? "success" : isOwn ? "failure" : "cut off"
          })
        )
      })
  }).pipe(Tool.requireApproval(), Tool.onError({ Busy: Recovery.tell() }))
  return { starts, tools: [look, ask, pay] as const }
}

/** As often as a run may be suspended: at the limit of turns, and for each payment. */
const suspensions = 3

/** Plays it, with one thing going wrong. */
export const playBranches = (mode: Mode, injection?: Injection) =>
  inSilence(
    stage(mode, injection, (steps, log) =>
      Effect.sync(() => {
        const { expert, jobs, requests, sent, worker } = stageModels(steps)
        const { starts, tools } = stageTools(steps, expert)
        const isLimit = injection?.limit !== undefined && injection.index < 0
        // a limit that is to be reached is not put off
        const limits: Budget.Limits = {
          warnAt: 1,
          prices: { "*": { usdPerMillionTokens: { input: 1_000_000, output: 0 } } },
          ...(isLimit ? { maxTurns: 20 } : {}),
          ...limitsOf(injection)
        }
        const ways: Budget.Limits = isLimit ? limits : { maxTurns: 4, ...limits }
        const agent = Agent.make("worker", {
          prompt: "You pay.",
          budget: ways,
          skills: [
            Skill.make("work", { description: "d", tools }),
            Skill.make("rest", { description: "d", tools: [tools[0]] })
          ]
        }).pipe(
          Agent.toolDefaults({ orElse: Recovery.tell() }),
          Agent.onBudgetExceeded(({ reason }) =>
            steps.effect(
              "limits",
              "decide",
              reason,
              Effect.succeed(
                isLimit || reason !== "maxTurns"
                  ? Budget.stop
                  : mode === "resumed"
                    ? Budget.checkpoint
                    : Budget.extend(20)
              )
            )
          ),
          Agent.onEvent(({ type }) =>
            type === "skill-chosen" || type === "approval-requested" || type === "budget-exceeded"
              ? steps.effect("listener", "onEvent", type, Effect.void)
              : Effect.void
          ),
          log.listen
        )
        const approving = ({ callId }: Approval.ApprovalRequest) =>
          steps.effect("approver", "decide", callId, Effect.succeed(Approval.approve))
        const resumed = Effect.scoped(
          Effect.gen(function* () {
            let outcome = yield* Effect.flatMap(agent.start("go"), (run) => run.outcome)
            for (let i = 0; i < suspensions && outcome._tag === "Suspended"; i++) {
              const from = yield* Snapshot.fromJson(JSON.parse(JSON.stringify(Snapshot.toJson(outcome.snapshot))))
              const decisions = yield* Effect.forEach(Snapshot.requestsOf(from), (request) =>
                Effect.map(approving(request), (decision) => ({ digest: request.digest, decision }))
              )
              const budget = { ...limits, maxTurns: limits.maxTurns ?? 20 }
              const handle = Agent.resume(agent).start({ from, decisions, budget })
              outcome = yield* Effect.flatMap(handle, (run) => run.outcome)
            }
            return outcome._tag === "Completed" ? outcome.output : yield* Effect.die(new Error("it waits too often"))
          })
        )
        return {
          sent,
          starts,
          requests,
          jobs,
          running: (see) =>
            Effect.provide(
              mode === "resumed"
                ? resumed
                : mode === "streamed"
                  ? Stream.runForEach(agent.stream("go"), see)
                  : agent("go"),
              Layer.merge(worker, Approval.layer(approving))
            )
        }
      })
    )
  )
