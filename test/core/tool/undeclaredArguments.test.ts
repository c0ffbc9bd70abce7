/** Arguments that the schema of a tool does not declare. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Coercion, Recovery, Tool, ToolError, ToolPolicy } from "@kintsugi/core"
import * as RawSchema from "@kintsugi/core/RawSchema"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Result, Schema } from "effect"
import { mend } from "../../_support/coercion.ts"
import { done, eventLog, read } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"

const { Array: List, Finite, Struct, optionalKey, Record, StructWithRest, String: Text, Union } = Schema

const person = Struct({ name: Text, emailAddress: optionalKey(Text), home: optionalKey(Struct({ city: Text })) })

it.run(
  "undeclared arguments are dropped with an event, in nested objects too, and the transcript keeps them [P1367]",
  (run) =>
    Effect.gen(function* () {
      const seen: Array<unknown> = []
      const log = eventLog()
      const greet = Tool.make("greet", {
        description: "Greets.",
        parameters: Struct({ people: List(person) }),
        success: Text,
        run: (params) => Effect.sync(() => (seen.push(params), "hello"))
      }).pipe(Tool.requireApproval())
      const sent = {
        people: [{ name: "Ada", mood: "glad", home: { city: "Oslo", street: 1 } }, { name: "Bo" }],
        x: null
      }
      const model = yield* ScriptedModel.make(ScriptedModel.calls(ScriptedModel.call("greet", sent, "c1")), done)
      const agent = Agent.make("worker", { tools: [greet] }).pipe(
        log.listen,
        Agent.toolPolicy(({ params }) => (seen.push(params), ToolPolicy.allow))
      )
      const approving = Approval.layer(({ arguments: args }) => Effect.sync(() => (seen.push(args), Approval.approve)))
      yield* run(agent, "go").pipe(Effect.provide(approving), Effect.provide(model.layer))
      const read = { people: [{ name: "Ada", home: { city: "Oslo" } }, { name: "Bo" }] }
      // the policy, the approver and the tool
      assert.deepStrictEqual(seen, [read, read, read])
      assert.sameDeepMembers(
        log.of("arguments-coerced").map(({ change }) => ({ ...change })),
        [
          { step: "drop-undeclared", path: ["x"], before: null, after: undefined },
          { step: "drop-undeclared", path: ["people", 0, "mood"], before: "glad", after: undefined },
          { step: "drop-undeclared", path: ["people", 0, "home", "street"], before: 1, after: undefined }
        ]
      )
      const [, reply] = model.requests.at(-1)?.messages ?? []
      assert(reply?.role === "assistant" && reply.content[0]?.type === "settled-call")
      assert.deepStrictEqual(reply.content[0].call.arguments, sent)
    })
)

it("a key that is near an absent declared one is refused by name [P1367 A106]", () => {
  for (const near of ["email_address", "EmailAddress", "email address", "emailAdres", "emailAddressss"]) {
    const ended = mend(person, { name: "Ada", [near]: "a@b.c" })
    assert.isUndefined(ended.value, near)
    assert.deepStrictEqual(ended.issues, [near])
  }
  // the declared one is there, or the name is another one
  const declared = { name: "Ada", emailAddress: "a@b.c" }
  assert.deepStrictEqual(mend(person, { ...declared, email_address: "x" }).value, declared)
  assert.deepStrictEqual(mend(person, { name: "Ada", telephone: "5" }).value, { name: "Ada" })
  assert.deepStrictEqual(mend(person, { name: "Ada", email: "x" }).value, { name: "Ada" })
})

it("near keys are looked for in the object in which they stand [P1367]", () => {
  const declared = { name: "Ada", home: { city: "Oslo" } }
  assert.deepStrictEqual(mend(person, { name: "Ada", home: { city: "Oslo", emailAddres: 1 } }).value, declared)
  assert.isUndefined(mend(person, { name: "Ada", home: { City: "Oslo" } }).value)
})

it("what one member of a union declares is not dropped for another one [P1367]", () => {
  const either = Struct({ to: Union([Struct({ phone: Text, call: Finite }), Struct({ street: Text })]) })
  // it is one of the two, by half
  assert.isUndefined(mend(either, { to: { phone: "1", street: "x" } }).value)
  assert.deepStrictEqual(mend(either, { to: { street: "x", extraordinary: 1 } }).value, { to: { street: "x" } })
  const wider = Union([Struct({ street: Text }), Struct({ street: Text, number: Finite, country: Text })])
  // the number is declared: which of the two was meant is unknown
  assert.isUndefined(mend(wider, { street: "x", number: 1 }).value)
  const tagged = Union([
    Struct({ kind: Schema.Literal("a"), amount: Finite }),
    Struct({ kind: Schema.Literal("b"), country: Text })
  ])
  assert.deepStrictEqual(mend(tagged, { kind: "a", amount: 1, country: "NO" }).value, { kind: "a", amount: 1 })
})

it("keys of a record stay, and so does what a tuple has too much of [P1367]", () => {
  const extensible = Struct({
    map: Record(Text, Finite),
    rest: StructWithRest(Struct({ a: Text }), [Record(Text, Text)])
  })
  const sent = { map: { anything: 1 }, rest: { a: "1", anything: "2" } }
  const { changes, value } = mend(extensible, { ...sent, undeclared: 1 })
  assert.deepStrictEqual([changes, value], [[["drop-undeclared", "undeclared"]], sent])
  assert.isUndefined(mend(Struct({ pair: Schema.Tuple([Text]) }), { pair: ["a", "b"] }).value)
})

it("the other steps are taken before it [P1367]", () => {
  const seats = Struct({ guest: Struct({ name: Text, age: Finite }), rooms: Finite })
  const sent = { guest: '{"name":"Ada","age":"36","mood":1}', rooms: "2", undeclared: [] }
  const ended = mend(seats, sent)
  assert.deepStrictEqual(ended.value, { guest: { name: "Ada", age: 36 }, rooms: 2 })
  assert.deepStrictEqual(ended.changes.at(-1)?.[0], "drop-undeclared")
})

it.effect("an unsafe tool, and one whose ladder leaves the step out, refuse them [P1367 A106]", () =>
  Effect.gen(function* () {
    const options = { description: "Greets.", parameters: person, success: Text, run: () => Effect.succeed("hello") }
    const tools = [
      Tool.make("greet", { ...options, sideEffects: "unsafe" }),
      Tool.make("greet", { ...options, sideEffects: "unsafe", coercion: Coercion.steps }),
      Tool.make("greet", { ...options, coercion: [] }),
      Tool.make("greet", { ...options, coercion: ["drop-empty"] })
    ]
    for (const tool of tools) {
      const error = yield* Effect.flip(Tool.call(tool, { name: "Ada", mood: 1 }))
      assert(error instanceof ToolError.DeserializationError)
      assert.deepStrictEqual(
        error.issues.map(({ path }) => path),
        [["mood"]]
      )
    }
    assert.strictEqual(
      yield* Tool.call(Tool.make("greet", { ...options, sideEffects: "idempotent" }), { name: "Ada", mood: 1 }),
      "hello"
    )
  })
)

it.effect("a foreign tool whose schema allows further properties keeps them [P1367]", () =>
  Effect.gen(function* () {
    const schema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const
    const tool = (parameters: RawSchema.RawSchema) =>
      Tool.make("look", {
        description: "Gives back what it got.",
        parameters: RawSchema.make(parameters),
        success: Schema.Json,
        run: (params) => Effect.succeed(params)
      })
    const sent = { name: "Ada", mood: "glad" }
    assert.deepStrictEqual(yield* Tool.call(tool(schema), sent), sent)
    assert.deepStrictEqual(yield* Tool.call(tool({ ...schema, additionalProperties: false }), sent), { name: "Ada" })
  })
)

it.run("the answer of an agent is read as it is declared [P1367 P302]", (run) =>
  Effect.gen(function* () {
    const agent = Agent.make("worker", { output: person })
    const model = yield* ScriptedModel.make(
      ScriptedModel.text('{"name":"Ada","mood":1}'),
      ScriptedModel.text('{"name":"Ada"}')
    )
    assert.deepStrictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), { name: "Ada" })
    assert.lengthOf(model.requests, 2)
  })
)

it("a hundred thousand undeclared keys take no time beyond that of reading them [P1367]", () => {
  const keys = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`emailAddrfss${index}`, 1]))
  const read = Result.try(() => mend(person, { name: "Ada", ...keys }).value)
  assert.deepStrictEqual(read, Result.succeed(undefined))
})

it.run("a tool without parameters takes objects and absent arguments, and nothing else [P1335]", (run) =>
  Effect.gen(function* () {
    const seen: Array<unknown> = []
    const ping = Tool.make("ping", {
      description: "Pings.",
      parameters: Struct({}),
      success: Text,
      run: (params) => Effect.sync(() => (seen.push(params), "pong"))
    })
    for (const sent of [{}, "{}", "", " ", "null", null, { verbose: true }, '{"verbose": true}', "```json\n{}\n```"]) {
      const model = yield* ScriptedModel.make(ScriptedModel.calls(ScriptedModel.call("ping", sent, "c1")), done)
      yield* run(Agent.make("worker", { tools: [ping] }), "go").pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(model.requests[0]?.tools[0]?.parameters, {
        type: "object",
        properties: {},
        additionalProperties: false
      })
    }
    assert.deepStrictEqual(
      seen,
      Array.from({ length: 9 }, () => ({}))
    )
    for (const sent of [3, "3", '"text"', [], "[]", [1], true]) {
      const model = yield* ScriptedModel.make(ScriptedModel.calls(ScriptedModel.call("ping", sent, "c1")))
      const agent = Agent.make("worker", { tools: [ping] })
      const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
      assert(error instanceof ToolError.DeserializationError, JSON.stringify(sent))
    }
    assert.lengthOf(seen, 9)
  })
)

it.effect("fields without fields of their own are objects too [P1335]", () =>
  Effect.gen(function* () {
    const tool = Tool.make("set", {
      description: "Sets.",
      parameters: Struct({ options: Struct({}) }),
      success: Text,
      run: (params) => Effect.succeed(JSON.stringify(params))
    })
    assert.strictEqual(yield* Tool.call(tool, { options: {} }), '{"options":{}}')
    assert.strictEqual(yield* Tool.call(tool, { options: { colour: 1 } }), '{"options":{}}')
    for (const options of [1, "x", []])
      assert.isTrue((yield* Effect.exit(Tool.call(tool, { options })))._tag === "Failure")
  })
)

it.run("the model reads which key it may have meant [P1367 P1332]", (run) =>
  Effect.gen(function* () {
    const greet = Tool.make("greet", {
      description: "Greets.",
      parameters: Struct({ people: List(person), id: Text, q: optionalKey(Text) }),
      success: Text,
      run: () => Effect.succeed("hello")
    })
    const sent = { people: [{ name: "Ada", email_address: "a@b.c" }], id: "1", k: "x" }
    const model = yield* ScriptedModel.make(ScriptedModel.calls(ScriptedModel.call("greet", sent, "c1")), done)
    const agent = Agent.make("worker", { tools: [greet] }).pipe(Agent.toolDefaults({ orElse: Recovery.tell() }))
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(read(model), [
      "told: The arguments of tool 'greet' do not fit its parameters (call c1): k: Expected no such key, got string \"x\"; " +
        'people[0].email_address: Expected no such key (did you mean emailAddress?), got string "a@b.c"; ' +
        "correct k, people[0].email_address and call the tool again"
    ])
  })
)
