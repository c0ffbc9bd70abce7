import * as Message from "@kintsugi/core/Message"
import * as Tool from "@kintsugi/core/Tool"
import { reply } from "@kintsugi/examples/demo/standIn"
import { isObject, mend } from "@kintsugi/examples/demo/standIn/Json"
import * as Schema from "effect/Schema"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { assistantCalls, ask, said, system, tool, toolResult, user } from "./_support/chat.ts"

const Unit = Schema.Literals(["celsius", "fahrenheit"])

const count = tool("tally_members", "Tells how many members a JSON object has.", { document: Schema.String })
const weather = tool("get_weather", "Current weather of a city.", {
  city: Schema.String,
  unit: Schema.optionalKey(Unit)
})
const sum = tool("sumTable", "Adds up a column of numbers.", { values: Schema.Array(Schema.Finite) })
const Line = Schema.Struct({ sku: Schema.String, quantity: Schema.Int })
const order = tool("place_order", "Orders goods for a customer.", {
  order: Schema.Struct({ customer: Schema.String, express: Schema.Boolean, lines: Schema.Array(Line) })
})
const handBack = tool("report_problem", "Hands the problem back, with a reason, so that the caller may try again.", {
  reason: Schema.String,
  severity: Schema.optionalKey(Schema.Literals(["LOW", "HIGH"]))
})
const giveUp = tool("abort_all", "Gives up: raises an exception that ends everything.", { reason: Schema.String })

const onlyNumber = system("Count with the tool. Reply with ONLY the number.")

describe("the stand-in model at work", () => {
  it.each([
    ["{name: world, age: 30}", "Size of this? {name: world, age: 30}"],
    ["{a: 1, b: {c: 2}", "How many members? {a: 1, b: {c: 2}"],
    ['{"a": "x} , "b": 1}', 'Members: {"a": "x} , "b": 1}'],
    ['{"a": [1, 2], "b": "hello', 'Members? {"a": [1, 2], "b": "hello'],
    ["{a: 1, b: 2}", "How many members has {a: 1, b: 2} in all, please?"],
    ["/* {x} */ {a: 1}", "How many members? /* {x} */ {a: 1}"],
    ["callback({a: 1});", "How many members? callback({a: 1});"],
    ["{why: what?, b: 1}", "How many members? {why: what?, b: 1}"],
    ["no json: at all", "How many members? no json: at all"],
    ["", "How many members? "]
  ])("passes the document on as it was typed: %s", (document, request) => {
    expect(ask([onlyNumber, user(request)], [count])).toEqual([["tally_members", { document }]])
  })

  it.each([
    ["What is the weather in Oslo, in Fahrenheit?", "get_weather", { city: "Oslo", unit: "fahrenheit" }],
    ["weather for New York please", "get_weather", { city: "New York" }],
    ['Weather: {"city": "Lima", "unit": "celsius"}', "get_weather", { city: "Lima", unit: "celsius" }],
    ["Add these numbers up: 1, 2.5 and -3", "sumTable", { values: [1, 2.5, -3] }],
    ["Sum of the table [1, '2', 3", "sumTable", { values: [1, 2, 3] }],
    [
      "Order this: {customer: Ann, express: 'no', lines: [{sku: A1, quantity: '2', note: x}]}",
      "place_order",
      { order: { customer: "Ann", express: false, lines: [{ sku: "A1", quantity: 2 }] } }
    ]
  ])("picks a tool and fills its parameters: %s", (request, name, parameters) => {
    expect(ask([user(request)], [order, sum, weather])).toEqual([[name, parameters]])
  })

  it("passes a document whole, draws other parameters from the words around it, and copies a number as text", () => {
    const part = tool("count_part", "Counts the members of a part.", {
      document: Schema.String,
      under: Schema.optionalKey(Schema.String),
      depth: Schema.optionalKey(Schema.Int)
    })
    const document = '{"under": "b", "depth": 3}'
    expect(ask([user(`How many members? ${document}`)], [part])).toEqual([["count_part", { document }]])
    const request = `How many members under owner, down to depth 2? ${document}`
    expect(ask([user(request)], [part])).toEqual([["count_part", { document, under: "owner", depth: "2" }]])
  })

  it("answers null for a parameter of which nothing was said, if it may be null", () => {
    const strict = tool("count_part", "Counts the members.", {
      document: Schema.String,
      under: Schema.NullOr(Schema.String)
    })
    expect(ask([user("How many members? {}")], [strict])).toEqual([["count_part", { document: "{}", under: null }]])
  })

  it("answers in words when no tool has to do with the request, when none is offered, and when none is allowed", () => {
    expect(said([user("Hello there")], [order, sum, weather])).toBe("I have no tool for that, and nothing to add.")
    expect(ask([user("weather in Oslo")], [])).toEqual([])
    expect(ask([user("weather in Oslo")], [weather], "none")).toEqual([])
  })

  it("calls the tool that the request forces", () => {
    const forced = { type: "function", function: { name: "sumTable" } }
    expect(ask([user("Good morning, 7 to you")], [order, sum, weather], forced)).toEqual([
      ["sumTable", { values: [7] }]
    ])
    expect(ask([user("Good morning, 7 to you")], [weather], forced)).toEqual([])
    expect(ask([user("Hello there")], [weather], "required")).toHaveLength(1)
  })

  it("answers with the result, and with nothing else when the prompt wants only the number", () => {
    const talk = [user("How many members? {}"), assistantCalls("c1", "tally_members", { document: "{}" })]
    expect(said([onlyNumber, ...talk, toolResult("c1", "3")], [count])).toBe("3")
    expect(said([...talk, toolResult("c1", '"sunny"')], [count])).toBe("The result is sunny.")
  })

  it("calls a second tool that the request names, and reports both results", () => {
    const first = [
      user("Get the weather in Oslo, then sum the table 1, 2"),
      assistantCalls("c1", "get_weather", { city: "Oslo" }),
      toolResult("c1", "rain")
    ]
    expect(ask(first, [weather, sum])).toEqual([["sumTable", { values: [1, 2] }]])
    const second = [...first, assistantCalls("c2", "sumTable", { values: [1, 2] }), toolResult("c2", "3")]
    expect(said(second, [weather, sum])).toBe("The result is rain; 3.")
  })
})

describe("the stand-in model that is told an error", () => {
  const called = (request: string, name: string, parameters: object, error: string) => [
    onlyNumber,
    user(request),
    assistantCalls("c1", name, parameters),
    toolResult("c1", error)
  ]
  const errorText = (reason: string) =>
    `ERROR: Tool 'x' failed: ${reason} (severity: HIGH). Please retry with corrected arguments.`

  it("repeats the call with the JSON that the error carries", () => {
    const error = errorText('Unquoted keys in {name: world}, not {}. Corrected: {"name":"world"}')
    const talk = called("How many members? {name: world}", "tally_members", { document: "{name: world}" }, error)
    expect(ask(talk, [count])).toEqual([["tally_members", { document: '{"name":"world"}' }]])
  })

  it("is not misled by a document that has a key with the name of the parameter", () => {
    const error = errorText('Corrected: {"document":1}')
    const talk = called("How many members? {document: 1}", "tally_members", { document: "{document: 1}" }, error)
    expect(ask(talk, [count])).toEqual([["tally_members", { document: '{"document":1}' }]])
  })

  it("takes whole arguments from the error, and replaces a value that it proposes", () => {
    const whole = called("weather in Osl", "get_weather", { city: "Osl" }, errorText('Use {"city":"Oslo"}'))
    expect(ask(whole, [weather])).toEqual([["get_weather", { city: "Oslo" }]])
    const value = called("weather in Osl", "get_weather", { city: "Osl" }, "ERROR: no 'Osl'. Did you mean 'Oslo'?")
    expect(ask(value, [weather])).toEqual([["get_weather", { city: "Oslo" }]])
  })

  it("reads an error that came as JSON", () => {
    const error = JSON.stringify({ error: { message: errorText('Corrected: {"a":1}') } })
    const talk = called("members? {a: 1}", "tally_members", { document: "{a: 1}" }, error)
    expect(ask(talk, [count])).toEqual([["tally_members", { document: '{"a":1}' }]])
  })

  it("answers that it could not be done when the error carries nothing, or only what was tried", () => {
    const empty = called("members? {a: 1}", "tally_members", { document: "{a: 1}" }, errorText("It is broken"))
    expect(said(empty, [count])).toContain("It is broken")
    const same = errorText('Corrected: {"a":1}')
    const tried = [
      ...called("members? {a: 1}", "tally_members", { document: "{a: 1}" }, same),
      assistantCalls("c2", "tally_members", { document: '{"a":1}' }),
      toolResult("c2", same)
    ]
    expect(said(tried, [count])).toContain("I could not do it")
    const final = called("members? {a: 1}", "tally_members", { document: "{a: 1}" }, 'ERROR: permanent: {"b":1}')
    expect(said(final, [count])).toContain("permanent")
  })

  it("repeats a call that failed for a moment, three times in all", () => {
    const error = "ERROR: transient: busy; safe to retry"
    const talk: Array<object> = called("weather in Oslo", "get_weather", { city: "Oslo" }, error)
    for (const id of ["c2", "c3"]) {
      expect(ask(talk, [weather])).toEqual([["get_weather", { city: "Oslo" }]])
      talk.push(assistantCalls(id, "get_weather", { city: "Oslo" }), toolResult(id, error))
    }
    expect(said(talk, [weather])).toContain("busy")
  })

  it("gives every call an id of its own", () => {
    const talk = called("members? {a: 1}", "tally_members", { document: "{a: 1}" }, errorText('Corrected: {"a":1}'))
    const ids = [talk.slice(0, 2), talk].map((messages) => {
      const [part] = Message.callsOf(reply({ messages, tools: [count] }))
      return part?.id
    })
    expect(new Set(ids).size).toBe(2)
  })
})

describe("the stand-in model as a fixer", () => {
  const prompt = system("You receive a call that failed. Hand back a reason that contains the corrected JSON.")
  const report = (raw: string) =>
    user(
      [
        "Tool 'tally_members' failed.",
        "Description: Tells how many members a JSON object has.",
        `Arguments: ${raw}`,
        'Parameters (JSON Schema): {"type":"object","properties":{"document":{"type":"string"}},"required":["document"]}',
        "Error: no members found",
        "This is attempt 1 of 2."
      ].join("\n")
    )
  const withDocument = (document: string) => report(JSON.stringify({ document }))

  it.each([
    ["{name: world, age: 30}", '{"name":"world","age":30}'],
    ["{'a': 1,}", '{"a":1}'],
    ["{a: 1, b: {c: 2}", '{"a":1,"b":{"c":2}}'],
    ['{"id": 12345678901234567890, b: "x  y"}', '{"id":12345678901234567890,"b":"x  y"}']
  ])("mends the document inside the arguments: %s", (document, corrected) => {
    const [call] = ask([prompt, withDocument(document)], [handBack, giveUp])
    expect(call).toEqual(["report_problem", { reason: expect.stringContaining(`Corrected: ${corrected}`) }])
  })

  it("mends arguments that are broken themselves", () => {
    const [call] = ask([prompt, report('{"document": "{name: world')], [giveUp, handBack])
    expect(call).toEqual(["report_problem", { reason: expect.stringContaining('{"name":"world"}') }])
  })

  it.each([
    ["", "empty"],
    ["only words", "cannot be repaired"],
    ["\u0000\u0001{\u0002", "binary"],
    ["[1,2]", "valid JSON"]
  ])("gives up when there is nothing to mend: %j", (document, reason) => {
    const [call] = ask([prompt, withDocument(document)], [handBack, giveUp])
    expect(call).toEqual(["abort_all", { reason: expect.stringContaining(reason) }])
  })

  it("takes a tool with more to it than a reason for work", () => {
    const refund = tool("refund", "Gives money back.", { orderId: Schema.String, reason: Schema.String })
    const send = tool("send_message", "Sends a message to a friend.", { message: Schema.String })
    expect(ask([user("Refund order 'A1'")], [refund])).toEqual([
      ["refund", { orderId: "A1", reason: "Refund order 'A1'" }]
    ])
    expect(ask([user("Send a message: hello")], [send])).toEqual([["send_message", { message: "hello" }]])
  })

  it("gives up in words when it has no tool to give up", () => {
    expect(said([prompt, withDocument("only words")], [handBack])).toContain("cannot be repaired")
  })

  it("understands the built-in tools of the library by their descriptions", () => {
    const builtIn = [Tool.escalate, Tool.throwException].map((tool) => ({
      type: "function",
      function: tool.definition.spec()
    }))
    const [soft] = ask([prompt, withDocument("{a: 1}")], builtIn)
    expect(soft).toEqual(["escalate", { reason: expect.stringContaining('Corrected: {"a":1}') }])
    const [hard] = ask([prompt, withDocument("only words")], builtIn)
    expect(hard).toEqual(["throwException", { reason: expect.stringContaining("cannot be repaired") }])
  })

  it("without tools, answers with the repaired arguments", () => {
    const answer = said([system("Answer with the corrected arguments."), withDocument("{a: 1}")], [])
    expect(JSON.parse(answer)).toEqual({ document: '{"a":1}' })
  })
})

describe("the stand-in model in general", () => {
  const messages = fc.array(
    fc.oneof(
      fc.record(
        {
          role: fc.constantFrom("system", "user", "assistant", "tool", "other"),
          content: fc.oneof(fc.string(), fc.json(), fc.constant(null), fc.jsonValue()),
          tool_call_id: fc.constantFrom("c1", "c2"),
          tool_calls: fc.array(
            fc.oneof(
              fc.record({
                id: fc.constantFrom("c1", "c2"),
                function: fc.record({ name: fc.constantFrom("a", "b"), arguments: fc.oneof(fc.json(), fc.string()) })
              }),
              fc.jsonValue()
            ),
            { maxLength: 3 }
          )
        },
        { requiredKeys: ["role"] }
      ),
      fc.jsonValue()
    ),
    { maxLength: 6 }
  )
  const parameters = fc.oneof(
    fc.jsonValue(),
    fc.record({
      type: fc.constant("object"),
      properties: fc.dictionary(
        fc.string(),
        fc.oneof(
          fc.record({ type: fc.constantFrom("string", "number", "integer", "boolean", "array", "object", "null") }),
          fc.jsonValue(),
          fc.constant({ $ref: "#" }),
          fc.constant({ $ref: "#/properties/a" })
        )
      ),
      required: fc.array(fc.string())
    })
  )
  const tools = fc.array(
    fc.oneof(
      fc.record({
        type: fc.constant("function"),
        function: fc.record({ name: fc.constantFrom("a", "b", "reason"), description: fc.string(), parameters })
      }),
      fc.jsonValue()
    ),
    { maxLength: 4 }
  )
  const choices = fc.oneof(
    fc.constantFrom("auto", "none", "required", { type: "function", function: { name: "a" } }),
    fc.jsonValue()
  )

  it("answers any request, and calls only what is offered, with an object", () => {
    const body = fc.oneof(fc.jsonValue(), fc.record({ messages, tools, tool_choice: choices }, { requiredKeys: [] }))
    fc.assert(
      fc.property(body, (body) => {
        const answer = reply(body)
        const offered = JSON.stringify(body)
        for (const call of Message.callsOf(answer)) {
          expect(offered).toContain(JSON.stringify(call.name))
          expect(JSON.parse(String(call.arguments))).toBeTypeOf("object")
        }
        expect(answer).toEqual(reply(structuredClone(body)))
      })
    )
  })

  it("writes arguments that decode, for any simple schema and any document", () => {
    const kinds = [
      Schema.String,
      Schema.Finite,
      Schema.Int,
      Schema.Boolean,
      Unit,
      Schema.Array(Schema.Finite),
      Schema.Array(Schema.Struct({ name: Schema.String, size: Schema.Int })),
      Schema.Struct({ a: Schema.String, b: Schema.Finite }),
      Schema.NullOr(Schema.String)
    ] as const
    const fields = fc.dictionary(
      fc.constantFrom("a", "b", "name", "json", "value", "size"),
      fc.constantFrom(...kinds),
      {
        minKeys: 1
      }
    )
    fc.assert(
      fc.property(fields, fc.object(), (fields, document) => {
        const made = tool("anything", "Takes anything.", fields)
        const calls = ask([user(`Do it: ${JSON.stringify(document)}`)], [made], "required")
        const decode = Schema.decodeUnknownSync(Schema.Struct(fields), { onExcessProperty: "error" })
        expect(calls).toHaveLength(1)
        expect(() => decode(calls[0]?.[1])).not.toThrow()
      })
    )
  })

  it("as a fixer and at work together, finds the members of all that the repair library can mend", () => {
    const broken = fc
      .tuple(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(), fc.boolean())
      .map(([value, cut, bare]) => {
        const text = JSON.stringify(value)
        const unquoted = bare ? text.replace(/"([a-zA-Z]\w*)":/g, "$1: ") : text
        return cut % 3 === 0 ? unquoted.slice(0, cut % (unquoted.length + 1)) : unquoted
      })
    const members = (text: string): number | undefined => {
      const value = mend(text)?.value
      return isObject(value) ? Object.keys(value).length : undefined
    }
    fc.assert(
      fc.property(broken, (text) => {
        const expected = members(text)
        fc.pre(expected !== undefined)
        const [first] = ask([user(`How many members? ${text}`)], [count])
        const typed = String(Object(first?.[1]).document)
        if (members(typed) !== expected) throw new Error(`typed ${typed}`)
        const [second] = ask([user(`Arguments: ${JSON.stringify({ document: typed })}\nError: it failed`)], [handBack])
        const reason = String(Object(second?.[1]).reason)
        if (second === undefined) expect(JSON.parse(typed)).toBeTypeOf("object")
        else
          expect(Object.keys(JSON.parse(reason.slice(reason.indexOf("Corrected: ") + 11)))).toHaveLength(expected ?? 0)
      })
    )
  })
})
