/** Runs that began before a change of their agent go on with the current one, by a migration. */
import { assert, describe, it } from "@effect/vitest"
import { Agent, Approval, type Message, Tool } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Effect, Exit, Logger, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import {
  after,
  assertDone,
  before,
  current,
  failureOf,
  moved,
  New,
  Old,
  quiet,
  saying,
  Seen,
  usual
} from "./_support/changing.ts"
import { process, watched } from "./_support/engines.ts"
import { call } from "./_support/readingModel.ts"
import { Busy } from "./_support/scenarios.ts"

const look = [call("look", { id: "A" })]
const sign = [call("sign", { id: "A" })]

/** A name that differs from the current one in case alone, and numbers in an unusual form, one of which the tool takes as a text. */
const written = [call("look", '{"id":7.10,"sum":10.50}')]

/** With an engine that loses each replay after each step, a process dies at each place. */
const engines = describe.each([false, true])

engines("with an engine that forgets: %s", (isForgetful) => {
  it.effect("a run that waits for approval asks again for the migrated call, and runs nothing twice [P1714]", () =>
    Effect.gen(function* () {
      const { done, layer } = yield* watched(isForgetful)
      yield* Effect.gen(function* () {
        const [first, second] = [before([look, sign]), after([look, sign], usual)]
        const id = yield* moved(first, second)
        const [asked] = first.seen.asked
        const [renewed] = second.seen.asked
        assert.isDefined(asked)
        assert.isDefined(renewed)
        assert.strictEqual(renewed.request.tool, "endorse")
        assert.deepStrictEqual(renewed.request.arguments, { ids: ["A"] })
        // the key of the call stays, and the person sees one request
        assert.strictEqual(renewed.request.key, asked.request.key)
        const polled = Option.getOrUndefined(yield* Durable.poll(second.durable, id))
        assert.isTrue(polled?._tag === "Suspended")
        if (polled?._tag === "Suspended")
          assert.deepStrictEqual(
            polled.waiting.map((one) => ("tool" in one ? one.tool : one.type)),
            ["endorse"]
          )
        const late = yield* Durable.decide(second.durable, asked, Approval.approve)
        assert.deepInclude(late, { _tag: "NotCounted", reason: "withdrawn" })
        const counted = yield* Durable.decide(second.durable, renewed, Approval.approve)
        assert.strictEqual(counted._tag, "Counted")
        yield* quiet
        yield* assertDone(second, id)
        assert.deepStrictEqual(
          first.seen.ran.map(({ tool }) => tool),
          ["look"]
        )
        assert.deepStrictEqual(second.seen.ran, [{ tool: "endorse", params: { ids: ["A"] }, key: asked.request.key }])
        // the model reads the calls as it wrote them
        const read = JSON.stringify(second.seen.requests.at(-1)?.messages)
        assert.include(read, '"name":"look","arguments":{"id":"A"}')
        assert.include(read, '"name":"sign","arguments":{"id":"A"}')
        // each reply was migrated once, in whichever process
        const steps = done.filter((name) => name.endsWith("/migrated/1"))
        assert.strictEqual(steps.length, 2)
      }).pipe(Effect.provide(layer))
    })
  )

  it.effect("a call that was approved and has run keeps its approval and its result [P1714]", () =>
    Effect.gen(function* () {
      const { layer } = yield* watched(isForgetful)
      yield* Effect.gen(function* () {
        const contents = [sign, sign]
        const [first, second] = [before(contents), after(contents, usual)]
        const stop = yield* process(first.durable.layer)
        const id = yield* Durable.start(first.durable, { id: "one", input: "go" })
        yield* quiet
        const [asked] = first.seen.asked
        assert.isDefined(asked)
        // the edited arguments are those of the earlier tool
        yield* Durable.decide(first.durable, asked, Approval.approveWith({ id: "B" }))
        yield* quiet
        assert.strictEqual(first.seen.asked.length, 2)
        yield* stop
        yield* process(second.durable.layer)
        yield* Durable.resume(second.durable, id)
        yield* quiet
        // about the second call alone
        assert.strictEqual(second.seen.asked.length, 1)
        const [renewed] = second.seen.asked
        assert.isDefined(renewed)
        yield* Durable.decide(second.durable, renewed, Approval.approve)
        yield* quiet
        yield* assertDone(second, id)
        assert.deepStrictEqual(
          first.seen.ran.map(({ params }) => params),
          [{ id: "B" }]
        )
        assert.deepStrictEqual(
          second.seen.ran.map(({ params }) => params),
          [{ ids: ["A"] }]
        )
      }).pipe(Effect.provide(layer))
    })
  )

  // Finds out nothing of its own: its subject is how core goes on with a recorded call in another process
  it.effect("the next attempt after a wait is one of the current tool, with the key of the call [P1714]", () =>
    Effect.gen(function* () {
      const { layer } = yield* watched(isForgetful)
      yield* Effect.gen(function* () {
        const busy = Effect.fail(new Busy({ message: "busy" }))
        const [first, second] = [before([look], busy), after([look], usual)]
        const id = yield* moved(first, second)
        assert.deepStrictEqual(second.seen.ran, [])
        yield* TestClock.adjust("2 hours")
        yield* quiet
        yield* assertDone(second, id)
        const [attempt] = first.seen.ran
        assert.strictEqual(first.seen.ran.length, 1)
        assert.deepStrictEqual(second.seen.ran, [{ tool: "find", params: { ids: ["A"] }, key: attempt?.key ?? "" }])
      }).pipe(Effect.provide(layer))
    })
  )

  it.effect("a tool at work at the death of its process runs again as the current tool, with its key [P1714]", () =>
    Effect.gen(function* () {
      const { layer } = yield* watched(isForgetful)
      yield* Effect.gen(function* () {
        const [first, second] = [before([written], Effect.never), after([written], usual, { name: "LOOK" })]
        const id = yield* moved(first, second)
        yield* assertDone(second, id)
        const [attempt] = first.seen.ran
        assert.strictEqual(first.seen.ran.length, 1)
        assert.deepStrictEqual(second.seen.ran, [{ tool: "LOOK", params: { ids: ["7.10"] }, key: attempt?.key ?? "" }])
      }).pipe(Effect.provide(layer))
    })
  )
})

const unsafe = (isEarlier: boolean) => {
  const seen = new Seen()
  const looked: Array<string> = []
  const about = { description: "Pays.", success: Schema.String, sideEffects: "unsafe" } as const
  const verify = (key: string) => Effect.sync(() => (looked.push(key), Option.some("it was paid")))
  const model = saying(seen, [[call("pay", { id: "A" })]])
  const options = { name: "payer", input: Schema.String, output: Schema.String }
  const run = (params: unknown, { idempotencyKey: key }: Tool.ToolContext) =>
    Effect.andThen(
      Effect.sync(() => seen.ran.push({ tool: "pay", params, key })),
      isEarlier ? Effect.never : Effect.succeed("paid")
    )
  const old = Tool.make("pay", { ...about, verify, parameters: Old, run })
  const pay = Tool.make("pay", { ...about, verify, parameters: New, run })
  const migrations = [
    { calls: [Durable.migrateCall({ from: { tool: "pay", parameters: Old }, to: pay, migrate: usual })] }
  ]
  const durable = isEarlier
    ? Durable.workflow(Agent.make("payer", { model, tools: [old] }), options)
    : Durable.workflow(Agent.make("payer", { model, tools: [pay] }), { ...options, migrations })
  return { durable, looked, seen }
}

// Finds out nothing of its own: its subject is how core looks a recorded call up after the death of its process
it.effect("an unsafe tool at work at the death of its process is looked up with its key, and not run [P1714]", () =>
  Effect.gen(function* () {
    const { layer } = yield* watched(false)
    yield* Effect.gen(function* () {
      const [first, second] = [unsafe(true), unsafe(false)]
      const stop = yield* process(first.durable.layer)
      const id = yield* Durable.start(first.durable, { id: "one", input: "go" })
      yield* quiet
      yield* stop
      yield* process(second.durable.layer)
      yield* Durable.resume(second.durable, id)
      yield* quiet
      const result = Option.getOrUndefined(yield* Durable.poll(second.durable, id))
      assert.isTrue(result?._tag === "Complete" && Exit.isSuccess(result.exit))
      assert.deepStrictEqual(second.seen.ran, [])
      assert.deepStrictEqual(
        second.looked,
        first.seen.ran.map(({ key }) => key)
      )
      assert.include(JSON.stringify(second.seen.requests.at(-1)?.messages), "it was paid")
    }).pipe(Effect.provide(layer))
  })
)

// Finds out nothing of its own: it is the run of the tests around it, without a migration
it.effect("without a migration the run ends with ChangedAgentError, and nothing runs [P1714]", () =>
  Effect.gen(function* () {
    const { layer } = yield* watched(false)
    yield* Effect.gen(function* () {
      const [first, second] = [before([look, sign]), after([look, sign])]
      const id = yield* moved(first, second)
      assert.strictEqual((yield* failureOf(second, id))._tag, "ChangedAgentError")
      assert.deepStrictEqual([second.seen.ran, second.seen.asked, second.seen.requests], [[], [], []])
    }).pipe(Effect.provide(layer))
  })
)

const wrong: ReadonlyArray<readonly [string, typeof usual, string, RegExp]> = [
  [
    "throws",
    () => {
      throw new Error("no such order")
    },
    "",
    /migrate threw: no such order/
  ],
  // cast: a migration from untyped code
  ["gives what the tool refuses", () => ({ ids: [7] }) as unknown as typeof New.Type, "ids.0", /Expected string/]
]

it.effect.each(wrong)("a migration that %s ends the run, with its step and field [P1714]", ([, moves, field, said]) =>
  Effect.gen(function* () {
    const { layer } = yield* watched(false)
    yield* Effect.gen(function* () {
      const [first, second] = [before([look, sign]), after([look, sign], moves)]
      const id = yield* moved(first, second)
      const error = yield* failureOf(second, id)
      assert.deepInclude(error, { _tag: "MigrationError", workflow: "clerk", executionId: id, tool: "look", field })
      assert.match(String(Object(error).step), /^run-\w+\/1\/model\/1$/)
      assert.match(error.message, said)
      assert.deepStrictEqual([second.seen.ran, second.seen.asked, second.seen.requests], [[], [], []])
    }).pipe(Effect.provide(layer))
  })
)

it.effect(
  "arguments that the earlier tool has refused stay refused, also if the current tool would take them [P1714]",
  () =>
    Effect.gen(function* () {
      for (const [args, isTaken] of [
        [{ id: [7] }, false],
        [{ ids: ["A"] }, true]
      ] as const) {
        const { layer } = yield* watched(false)
        yield* Effect.gen(function* () {
          const contents = [[call("look", args)], sign]
          const [first, second] = [before(contents), after(contents, usual)]
          const id = yield* moved(first, second)
          assert.deepStrictEqual(first.seen.ran, [])
          assert.deepStrictEqual(second.seen.ran, [])
          if (isTaken)
            return assert.deepInclude(yield* failureOf(second, id), {
              _tag: "MigrationError",
              tool: "look",
              field: "ids"
            })
          const [renewed] = second.seen.asked
          assert.isDefined(renewed)
          yield* Durable.decide(second.durable, renewed, Approval.approve)
          yield* quiet
          yield* assertDone(second, id)
          // the model reads what it has read of the earlier tool
          assert.deepStrictEqual(
            second.seen.requests.at(-1)?.messages.slice(0, 2),
            first.seen.requests.at(-1)?.messages.slice(0, 2)
          )
        }).pipe(Effect.provide(layer))
      }
    })
)

// Finds out nothing of its own: its subject is a replay of core in a third process
it.effect("a migration is recorded: a later process with another function goes on with the first result [P1714]", () =>
  Effect.gen(function* () {
    const { layer } = yield* watched(false)
    yield* Effect.gen(function* () {
      const contents = [sign]
      const second = after(contents, usual)
      const stopped = yield* process(before(contents).durable.layer)
      const id = yield* Durable.start(second.durable, { id: "one", input: "go" })
      yield* quiet
      yield* stopped
      const stop = yield* process(second.durable.layer)
      yield* Durable.resume(second.durable, id)
      yield* quiet
      yield* stop
      const third = after(contents, () => ({ ids: ["another"] }))
      yield* process(third.durable.layer)
      const [renewed] = second.seen.asked
      assert.isDefined(renewed)
      yield* Durable.decide(third.durable, renewed, Approval.approve)
      yield* quiet
      yield* assertDone(third, id)
      assert.deepStrictEqual(
        third.seen.ran.map(({ params }) => params),
        [{ ids: ["A"] }]
      )
    }).pipe(Effect.provide(layer))
  })
)

/** The clerk after a second change: what finds also counts. */
const later = (contents: ReadonlyArray<Message.Reply["content"]>) => {
  const seen = new Seen()
  const find = current(seen, "find")
  const Counted = Schema.Struct({ ids: Schema.NonEmptyArray(Schema.String), count: Schema.Int })
  const certify = Tool.make("certify", {
    description: "Certifies.",
    parameters: Counted,
    success: Schema.String,
    run: (params, { idempotencyKey: key }) =>
      Effect.sync(() => (seen.ran.push({ tool: "certify", params, key }), "done"))
  })
  const agent = Agent.make("clerk", {
    model: saying(seen, contents),
    budget: { maxDuration: "30 days" },
    tools: [find, certify]
  })
  const calls = [
    Durable.migrateCall({ from: { tool: "look", parameters: Old }, to: find, migrate: usual }),
    Durable.migrateCall({ from: { tool: "sign", parameters: Old }, to: current(seen, "endorse"), migrate: usual })
  ]
  const second = Durable.migrateCall({
    from: { tool: "endorse", parameters: New },
    to: certify,
    migrate: ({ ids }) => ({ ids, count: ids.length })
  })
  const durable = Durable.workflow(agent, {
    name: "clerk",
    input: Schema.String,
    output: Schema.String,
    migrations: [{ calls }, { calls: [second] }]
  })
  return { durable, seen }
}

// Finds out nothing of its own: its subject is a replay of core after two changes of its agent
it.effect("several migrations follow each other, from the one that came after the record [P1714]", () =>
  Effect.gen(function* () {
    for (const [begins, args] of [
      [before, { id: "A" }],
      [(contents: Parameters<typeof after>[0]) => after(contents, usual), { ids: ["A"] }]
    ] as const) {
      const { layer } = yield* watched(false)
      yield* Effect.gen(function* () {
        const contents = [[call("id" in args ? "sign" : "endorse", args)]]
        const second = later(contents)
        const id = yield* moved(begins(contents), second)
        yield* assertDone(second, id)
        assert.deepStrictEqual(
          second.seen.ran.map(({ params }) => params),
          [{ ids: ["A"], count: 1 }]
        )
      }).pipe(Effect.provide(layer))
    }
  })
)

// Finds out nothing of its own: its subject is how core goes on with a recorded call of the present agent
it.effect("a call that was recorded after a migration stays, also if the tool has kept its name [P1714]", () =>
  Effect.gen(function* () {
    const { layer } = yield* watched(false)
    yield* Effect.gen(function* () {
      const contents = [[call("look", { ids: ["A"] })]]
      const does = Effect.fail(new Busy({ message: "busy" }))
      const second = after(contents, usual, { isLast: false, name: "look" })
      const id = yield* moved(after(contents, usual, { name: "look", does }), second)
      yield* TestClock.adjust("2 hours")
      yield* quiet
      yield* assertDone(second, id)
      assert.deepInclude(second.seen.ran[0], { tool: "look", params: { ids: ["A"] } })
    }).pipe(Effect.provide(layer))
  })
)

it.effect("a run that a newer agent has recorded waits for that agent [P1714]", () =>
  Effect.gen(function* () {
    const { layer } = yield* watched(false)
    const logged: Array<unknown> = []
    const logger = Logger.layer([Logger.make(({ message }) => void logged.push(message))])
    yield* Effect.gen(function* () {
      const contents = [[call("endorse", { ids: ["A"] })]]
      const [newer, older] = [after(contents, usual), before(contents)]
      const id = yield* moved(newer, older)
      assert.strictEqual(Option.getOrUndefined(yield* Durable.poll(older.durable, id))?._tag, "Suspended")
      assert.match(String(logged), /recorded by a newer release or a newer agent \(1 migrations, this workflow has 0\)/)
      const [asked] = newer.seen.asked
      assert.isDefined(asked)
      const next = after(contents, usual)
      yield* process(next.durable.layer)
      yield* Durable.decide(next.durable, asked, Approval.approve)
      yield* quiet
      yield* assertDone(next, id)
    }).pipe(Effect.provide(layer), Effect.provide(logger))
  })
)
