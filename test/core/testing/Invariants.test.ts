/** Each invariant finds what is wrong: recordings of sound runs in which one thing is changed. */
import { assert, it } from "@effect/vitest"
import { Agent, type AgentEvent, type Message, Recovery, Skill, Tool, Usage } from "@kintsugi/core"
import { FaultSweep, Invariants, ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Schema } from "effect"
import type { Recording } from "../../../packages/core/src/testing/recorder.ts"

const { call, calls, text } = ScriptedModel

const pay = Tool.make("pay", {
  description: "d",
  parameters: Schema.Struct({ n: Schema.Finite }),
  success: Schema.String,
  sideEffects: "unsafe",
  run: ({ n }) => Effect.as(Effect.sleep(20), `paid ${n}`)
})

const working = (tools: readonly [typeof pay]) =>
  Agent.make("worker", { skills: [Skill.make("work", { description: "d", tools })] }).pipe(
    Agent.toolDefaults({ orElse: Recovery.tell() })
  )

const agent = working([pay])

/** All recordings of a sweep, which holds none of them against anything. */
const recordings = Effect.fnUntraced(function* (of: typeof agent, wrote: ReadonlyArray<Message.ToolCall>) {
  const all: Array<Recording> = []
  const keep: Invariants.Invariant = (recording) => {
    all.push(recording)
    return []
  }
  yield* FaultSweep.run(of, { input: "go", script: [calls(...wrote), text("done")], invariants: { keep } })
  return all
})

const direct = [call("pay", { n: 1 }, "c1"), call("pay", { n: 2 }, "c2")]

const {
  "each start has an end": closed,
  "every run ends with one last event": ended,
  "interruption passes": passing,
  "no call without its settlement": oneSettlement,
  "no unsafe tool runs twice": safe,
  "nothing is left behind": over,
  "the ledger is complete": booked
} = Invariants.all

type Event<Type> = Extract<AgentEvent.AgentEvent, { readonly type: Type }>

/** The events, those of one type changed. */
const changing =
  <const Type extends AgentEvent.AgentEvent["type"]>(type: Type, change: (event: Event<Type>) => Event<Type>) =>
  (recording: Recording): Recording => ({
    ...recording,
    // the event is of that type
    events: recording.events.map((event) => (event.type === type ? change(event as Event<Type>) : event))
  })

const without =
  (type: AgentEvent.AgentEvent["type"]) =>
  (recording: Recording): Recording => ({
    ...recording,
    events: recording.events.filter((event) => event.type !== type)
  })

type Mutation = readonly [
  title: string,
  invariant: Invariants.Invariant,
  mutate: (recording: Recording) => Recording,
  says: string
]

const mutations: ReadonlyArray<Mutation> = [
  [
    "a call without its settlement [P401]",
    oneSettlement,
    changing("turn-end", (event) => ({
      ...event,
      message: { ...event.message, content: event.message.content.slice(1) }
    })),
    "The message of 'worker' in turn 1"
  ],
  ["calls that no message has [P401]", oneSettlement, without("turn-end"), "that no message has"],
  [
    "a settlement that is another than was told [P401]",
    oneSettlement,
    changing("tool-end", (event) => ({ ...event, use: { ...event.use, settlement: { kind: "told", text: "no" } } })),
    "The settlement of c1"
  ],
  ["a result without its event [P401]", oneSettlement, without("tool-end"), "c1 is settled as 'result', and no event"],
  [
    "an attempt that is not booked [P703]",
    booked,
    changing("run-completed", (event) => ({ ...event, ledger: event.ledger.slice(1) })),
    "What is booked for 'worker'"
  ],
  [
    "usage that is no sum [P703]",
    booked,
    changing("run-completed", (event) => ({ ...event, usage: Usage.empty })),
    "The usage of 'worker'"
  ],
  [
    "an attempt that began in secret [P703]",
    booked,
    without("model-start"),
    "The attempts of 'worker' that have ended"
  ],
  [
    "a reply that is not counted [P703]",
    booked,
    (recording) => ({ ...recording, sent: [...recording.sent, Usage.make({ inputTokens: 1 })] }),
    "The usage of the whole"
  ],
  [
    "an unsafe tool that runs twice [P602]",
    safe,
    (recording) => ({ ...recording, starts: [...recording.starts, ...recording.starts] }),
    "'pay' is unsafe and runs again in call c1"
  ],
  [
    "an effect that is settled as none [P602]",
    safe,
    changing("turn-end", (event) => ({
      ...event,
      message: {
        ...event.message,
        content: event.message.content.map((part) =>
          part.type === "settled-call" ? { ...part, settlement: { kind: "interrupted", text: "" } } : part
        )
      }
    })),
    "'pay' is unsafe and may have taken effect, but call c1 is settled as interrupted"
  ],
  [
    "a run with two ends [A1202]",
    ended,
    (recording) => ({ ...recording, events: [...recording.events, ...recording.events.slice(-1)] }),
    "'worker' ends 2 times"
  ],
  ["a run without a beginning [A1202]", ended, without("run-start"), "'worker' begins 0 times"],
  [
    "an event after the end [A1202]",
    ended,
    (recording) => ({ ...recording, events: [...recording.events, ...recording.events.slice(0, 1)] }),
    "goes on after its end, with run-start"
  ],
  [
    "a reader that misses something [A1205]",
    ended,
    (recording) => ({ ...recording, seen: recording.events.slice(1) }),
    "a reader saw"
  ],
  [
    "a fiber that is left [L401]",
    over,
    (recording) => ({ ...recording, left: { fibers: 1, steps: 0 } }),
    "1 fibers are left"
  ],
  [
    "a step that is left [L401]",
    over,
    (recording) => ({ ...recording, left: { fibers: 0, steps: 1 } }),
    "1 steps have not ended"
  ],
  [
    "a late event [L401]",
    over,
    (recording) => ({ ...recording, later: { events: 1, steps: 0 } }),
    "1 events come after"
  ],
  [
    "a late step [L401]",
    over,
    (recording) => ({ ...recording, later: { events: 0, steps: 1 } }),
    "1 steps are taken after"
  ],
  [
    "a run without an end [L401]",
    over,
    (recording) => ({ ...recording, exit: undefined }),
    "does not end within a day"
  ],
  [
    "a model call that is never closed [A1203]",
    closed,
    without("model-end"),
    "model-start of 'worker', turn 1, ends 0 times"
  ],
  [
    "a call that is closed twice [A1203]",
    closed,
    (recording) => ({
      ...recording,
      events: [...recording.events, ...recording.events.filter(({ type }) => type === "tool-end")]
    }),
    "tool-start of 'worker', turn 1, ends 2 times"
  ],
  ["a call of no run [A1203]", closed, without("run-start"), "tool-start of 'worker' belongs to no run"],
  [
    "an interruption that is handled [A111]",
    passing,
    (recording) => ({ ...recording, interrupted: { at: 1, events: 2 } }),
    "an interruption was handled: the run goes on"
  ],
  [
    "something that happens after an interruption [A111]",
    passing,
    (recording) => ({ ...recording, interrupted: { at: 1, events: 2 } }),
    "19 ms after the interruption of the run"
  ]
]

it.effect("every invariant finds its violation, and none finds one in a sound run [P1105]", () =>
  Effect.gen(function* () {
    const all = yield* recordings(agent, direct)
    const clean = all.find(({ exit, seen }) => exit !== undefined && Exit.isSuccess(exit) && seen === undefined)
    assert(clean !== undefined)
    for (const holds of Object.values(Invariants.all)) {
      for (const recording of all) assert.deepStrictEqual(holds(recording), [])
    }
    for (const [title, holds, mutate, says] of mutations) {
      assert.include(holds(mutate(clean)).join("\n"), says, title)
    }
    // none of them is there in vain
    const used = new Set(mutations.map(([, holds]) => holds))
    assert.sameMembers([...used], Object.values(Invariants.all))
  })
)

it.effect("a call of an unsafe tool on demand is compared by the name of the tool [P1385 P602]", () =>
  Effect.gen(function* () {
    const wrote = [
      call("call_tool", { name: "pay", arguments: { n: 1 } }, "c1"),
      call("functions.call_tool", { name: "pay", arguments: { n: 2 } }, "c2")
    ]
    const all = yield* recordings(working(Tool.onDemand([pay])), wrote)
    for (const recording of all) assert.deepStrictEqual(safe(recording), [])
    const clean = all.find(({ exit }) => exit !== undefined && Exit.isSuccess(exit))
    assert(clean !== undefined)
    const [, , toNone] = mutations.find(([title]) => title.startsWith("an effect that is settled as none")) ?? []
    assert.deepStrictEqual(toNone && safe(toNone(clean)), [
      "'pay' is unsafe and may have taken effect, but call c1 is settled as interrupted",
      "'pay' is unsafe and may have taken effect, but call c2 is settled as interrupted"
    ])
  })
)

it.effect("calls of a reply with one id are distinguished by their tools [P1105]", () =>
  Effect.gen(function* () {
    const look = Tool.make("look", {
      description: "d",
      parameters: Schema.Struct({ n: Schema.Finite }),
      success: Schema.String,
      run: () => Effect.as(Effect.sleep(30), "seen")
    })
    const both = Agent.make("worker", { skills: [Skill.make("work", { description: "d", tools: [look, pay] })] }).pipe(
      Agent.toolDefaults({ orElse: Recovery.tell() })
    )
    const script = [calls(call("look", { n: 1 }, "same"), call("pay", { n: 2 }, "same")), text("done")]
    const report = yield* FaultSweep.run(both, { input: "go", script })
    assert.isAbove(report.runs, 20)
  })
)
