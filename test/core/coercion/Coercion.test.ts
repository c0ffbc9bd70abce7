import { assert, describe } from "@effect/vitest"
import { Coercion, Recovery, Tool, ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { it } from "../../_support/run.ts"
import { agentWith, done, eventLog, fixer } from "../../_support/dialogue.ts"
import { codec, flight, keeping, mend } from "../../_support/coercion.ts"

const { call, calls } = ScriptedModel

const { Array: List, Finite, Struct, optionalKey, String: Text, Union } = Schema

it.run("the steps come in order; each change is an event with path, step, before and after [P101 P103]", (run) =>
  Effect.gen(function* () {
    const { seen, tool } = keeping(flight)
    const log = eventLog()
    const json = `{to: 5, "seats": "2", "meals": "[\\"fish\\"]", "guest": "{\\"name\\":\\"Ada\\",\\"age\\":\\"\\"}",}`
    const raw = `\`\`\`json\nHere: ${json} Enjoy!\n\`\`\``
    const model = yield* ScriptedModel.make(calls(call("keep", raw, "c1")), done)
    yield* run(agentWith(tool).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(seen, [{ to: "5", seats: 2, meals: ["fish"], guest: { name: "Ada" } }])
    const changes = log.of("arguments-coerced").map(({ callId, change, tool: name }) => {
      assert.deepStrictEqual([callId, name], ["c1", "keep"])
      return [change.step, change.path, change.before, change.after]
    })
    const [fences, block, repair, ...rest] = changes
    assert.deepStrictEqual(fences, ["strip-fences", [], raw, `Here: ${json} Enjoy!`])
    assert.deepStrictEqual(block, ["first-block", [], `Here: ${json} Enjoy!`, json])
    assert.deepStrictEqual(repair?.slice(0, 3), ["repair", [], json])
    assert.sameDeepMembers(rest.slice(0, 2), [
      ["unwrap-json", ["meals"], '["fish"]', ["fish"]],
      ["unwrap-json", ["guest"], '{"name":"Ada","age":""}', { name: "Ada", age: "" }]
    ])
    assert.sameDeepMembers(rest.slice(2, 4), [
      ["convert-number", ["to"], 5, "5"],
      ["convert-number", ["seats"], "2", 2]
    ])
    assert.deepStrictEqual(rest.slice(4), [["drop-empty", ["guest", "age"], "", undefined]])
  })
)

describe("the next step is taken only while decoding fails, and only where it fails [P101]", () => {
  it("a value that decodes stays as it is, even if a step could change it [P101]", () => {
    const schema = Struct({
      text: Text,
      json: Schema.Json,
      any: Schema.Unknown,
      map: Schema.Record(Text, Text),
      maybe: Schema.NullOr(Text),
      none: optionalKey(Schema.NullOr(Text)),
      n: Finite
    })
    const fine = { text: "[1]", json: '{"a":"5"}', any: "5", map: { a: "1" }, maybe: "", none: null }
    const { changes, value } = mend(schema, { ...fine, n: "5" })
    assert.deepStrictEqual(value, { ...fine, n: 5 })
    assert.deepStrictEqual(changes, [["convert-number", "n"]])
  })

  it("an earlier step wins where a later one would do as well [P101]", () => {
    const schema = Union([Struct({ n: Finite, x: optionalKey(Finite) }), Struct({ n: Text, x: Text })])
    assert.deepStrictEqual(mend(schema, { n: 5, x: "" }).value, { n: "5", x: "" })
  })

  it("text that became an object is not repaired further [P101]", () => {
    const { changes, value } = mend(flight, '```\n{"to": "here"}\n```')
    assert.deepStrictEqual(changes, [["strip-fences", ""]])
    assert.deepStrictEqual(value, { to: "here" })
  })

  it("whole arguments in a string, and lists in objects in strings [P101]", () => {
    const inner = { to: "here", guest: JSON.stringify({ name: "Ada" }), meals: ' ["fish"]\n' }
    const wanted = { to: "here", guest: { name: "Ada" }, meals: ["fish"] }
    assert.deepStrictEqual(mend(flight, JSON.stringify(JSON.stringify(inner))).value, wanted)
    assert.deepStrictEqual(mend(flight, inner).value, wanted)
  })
})

describe("valid arguments [P102]", () => {
  it("are the very same object, decoded once [P102]", () => {
    const valid = { to: "5", seats: 2, guest: { name: "[1]" } }
    const { changes, decodes, value } = mend(flight, valid)
    assert.strictEqual(value, valid)
    assert.deepStrictEqual([changes, decodes], [[], 1])
  })

  it("it mends a copy [P102]", () => {
    const sent = Object.freeze({ to: "here", guest: Object.freeze({ name: "Ada", age: "5" }) })
    assert.deepStrictEqual(mend(flight, sent).value, { to: "here", guest: { name: "Ada", age: 5 } })
    assert.deepStrictEqual(sent.guest, { name: "Ada", age: "5" })
  })
})

it.run("a valid call makes no event, and its arguments stay as they are [P102]", (run) =>
  Effect.gen(function* () {
    const { seen, tool } = keeping(flight)
    const log = eventLog()
    const raw = '{ "to":"5",  "seats": 2.0 }'
    const model = yield* ScriptedModel.make(calls(call("keep", raw, "c1")), done)
    yield* run(agentWith(tool).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(log.of("arguments-coerced"), [])
    assert.deepStrictEqual(seen, [{ to: "5", seats: 2 }])
    assert.deepStrictEqual(
      log.of("tool-end").map(({ use }) => use.arguments),
      [raw]
    )
  })
)

describe("every kind of schema [P101]", () => {
  const kid = Struct({ name: Text, age: Finite })

  it("lists, tuples, sets and records of structs [P101]", () => {
    const schema = Struct({
      kids: List(kid),
      pair: Schema.Tuple([Finite, Text]),
      set: Schema.ReadonlySet(Finite),
      map: Schema.Record(Text, kid)
    })
    const sent = {
      kids: [{ name: "a", age: 1 }, { name: 2, age: "2" }, '{"name":"c","age":"3"}'],
      pair: ["1", 2],
      set: ["1", 2],
      map: { x: { name: "x", age: "9" }, "a.b": '{"name":"y","age":8}' }
    }
    assert.deepStrictEqual(mend(schema, sent).value, {
      kids: [
        { name: "a", age: 1 },
        { name: "2", age: 2 },
        { name: "c", age: 3 }
      ],
      pair: [1, "2"],
      set: [1, 2],
      map: { x: { name: "x", age: 9 }, "a.b": { name: "y", age: 8 } }
    })
  })

  it("unions: of the alternative that fits [P101]", () => {
    const shape = Union([
      Struct({ kind: Schema.Literal("circle"), r: Finite }),
      Struct({ kind: Schema.Literal("text"), r: Text })
    ])
    assert.deepStrictEqual(mend(shape, { kind: "circle", r: "5" }).value, { kind: "circle", r: 5 })
    assert.deepStrictEqual(mend(shape, { kind: "text", r: 5 }).value, { kind: "text", r: "5" })
    const find = Union([
      Struct({ query: Text, limit: optionalKey(Finite) }),
      Struct({ id: Finite, limit: optionalKey(Finite) })
    ])
    assert.deepStrictEqual(mend(find, { id: "5", limit: null }).value, { id: 5 })
    assert.deepStrictEqual(mend(Struct({ u: Schema.NullOr(kid) }), { u: '{"name":"a","age":"1"}' }).value, {
      u: { name: "a", age: 1 }
    })
    assert.deepStrictEqual(mend(Struct({ u: Schema.Literals([1, 2]) }), { u: "2" }).value, { u: 2 })
    assert.isUndefined(mend(Struct({ u: Schema.Literals([1, 2]) }), { u: "3" }).value)
  })

  it("classes, renamed keys, defaults, options, recursion [P101]", () => {
    class Pet extends Schema.Class<Pet>("Pet")({ age: Finite, toys: optionalKey(List(Text)) }) {}
    const renamed = Struct({ age: Finite, nick: optionalKey(Text) }).pipe(
      Schema.encodeKeys({ age: "Age", nick: "Nick" })
    )
    interface Node {
      readonly n: number
      readonly kids: ReadonlyArray<Node>
    }
    const node = Struct({ n: Finite, kids: List(Schema.suspend((): Schema.Codec<Node> => node)) })
    const schema = Struct({ pet: Pet, renamed, node, when: Schema.OptionFromOptionalKey(Finite) })
    const sent = {
      pet: { age: "5", toys: null },
      renamed: { Age: "5", Nick: null },
      node: { n: "1", kids: '[{"n":"2","kids":"[]"}]' },
      when: ""
    }
    assert.deepStrictEqual(mend(schema, sent).value, {
      pet: { age: 5 },
      renamed: { Age: 5 },
      node: { n: 1, kids: [{ n: 2, kids: [] }] }
    })
  })

  it("a key named __proto__ is a key like any other [P101]", () => {
    const sent: unknown = JSON.parse('{"__proto__":"5","a":{"__proto__":{"x":1}}}')
    assert.isUndefined(mend(Struct({ a: Schema.Json }), sent, Coercion.answerSteps).value)
    const result = mend(Struct({ a: Schema.Json }), sent)
    assert.strictEqual(JSON.stringify(result.value), '{"a":{"__proto__":{"x":1}}}')
    assert.deepStrictEqual(result.changes, [["drop-undeclared", "__proto__"]])
    const { value } = mend(Schema.Record(Text, Finite), JSON.parse('{"a":1,"__proto__":"5"}'))
    assert.strictEqual(JSON.stringify(value), '{"a":1,"__proto__":5}')
  })
})

describe("a tool's own ladder [P106]", () => {
  it("has the steps that it names, in the fixed order [P106]", () => {
    const sent = '{"to": 5, "seats": "2",}'
    assert.isUndefined(mend(flight, sent, []).value)
    assert.isUndefined(mend(flight, sent, ["convert-number"]).value)
    assert.isUndefined(mend(flight, sent, ["repair"]).value)
    assert.deepStrictEqual(mend(flight, sent, ["convert-number", "repair"]).changes, [
      ["repair", ""],
      ["convert-number", "to"],
      ["convert-number", "seats"]
    ])
    assert.isUndefined(mend(flight, { to: "x", seats: "" }, ["unwrap-json", "convert-number"]).value)
    assert.isDefined(mend(flight, { to: "x", seats: "" }, ["drop-empty"]).value)
  })

  it("with no steps decodes once [P106]", () => {
    assert.strictEqual(mend(flight, { to: 5 }, []).decodes, 1)
    assert.strictEqual(codec(flight)({ to: "x" })._tag, "Success")
  })
})

it.run("switched off, the model's arguments are refused as they are [P106]", (run) =>
  Effect.gen(function* () {
    const { seen, tool } = keeping(flight, [])
    const log = eventLog()
    const model = yield* ScriptedModel.make(calls(call("keep", { to: "x", seats: "2" }, "c1")))
    const error = yield* Effect.flip(run(agentWith(tool).pipe(log.listen), "go").pipe(Effect.provide(model.layer)))
    assert.instanceOf(error, ToolError.DeserializationError)
    assert.deepStrictEqual([log.of("arguments-coerced"), seen], [[], []])
  })
)

it.run("a fixer's answer takes the same ladder [P101 P103]", (run) =>
  Effect.gen(function* () {
    const { seen, tool } = keeping(flight)
    const { agent } = fixer(Effect.succeed('```\n{"to": "there", "seats": "2"}\n```'))
    const log = eventLog()
    const model = yield* ScriptedModel.make(calls(call("keep", "no json", "c1")), done)
    const fixed = agentWith(tool.pipe(Tool.onError({ InvalidArgs: Recovery.fix(agent) })))
    yield* run(fixed.pipe(log.listen), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(seen, [{ to: "there", seats: 2 }])
    assert.deepStrictEqual(
      log.of("arguments-coerced").map(({ change }) => change.step),
      ["strip-fences", "convert-number"]
    )
  })
)

it.run("the changes in a call of a built-in tool are events too [P103]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const model = yield* ScriptedModel.make(calls(call("escalate", { reason: "r", severity: null }, "c1")))
    yield* Effect.flip(run(agentWith(Tool.escalate).pipe(log.listen), "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(
      log.of("arguments-coerced").map(({ callId, change, tool }) => [callId, tool, change]),
      [["c1", "escalate", { step: "drop-empty", path: ["severity"], before: null, after: undefined }]]
    )
  })
)

it.effect("Tool.call takes the tool's ladder [P101 P106]", () =>
  Effect.gen(function* () {
    const { seen, tool } = keeping(flight)
    yield* Tool.call(tool, { to: "x", seats: "2" })
    yield* Tool.call(tool, '{"to": "x", seats: null}')
    assert.deepStrictEqual(seen, [{ to: "x", seats: 2 }, { to: "x" }])
    assert.instanceOf(
      yield* Effect.flip(Tool.call(keeping(flight, ["repair"]).tool, { to: 5 })),
      ToolError.DeserializationError
    )
  })
)
