/** The tool calls of replies, whole and in pieces. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import * as Usage from "@kintsugi/core/Usage"
import { Result } from "effect"
import { answer, chunk, codec, decodeStream, ok, whole, wireCall } from "./_support/replies.ts"

describe("calls", () => {
  const streamed = (...pieces: ReadonlyArray<object>) =>
    ok(decodeStream([...pieces.map((piece) => chunk({ tool_calls: [piece] })), chunk({}, "tool_calls"), "[DONE]"]))

  const raw = ['{"a":1}', '{"city": "Oslo", "unit": ', "", "nonsense", '{"a":1,}', "{}", '"text"', " "]
  for (const text of raw) {
    it(`gives the raw text ${JSON.stringify(text)} back unchanged, whole and streamed in any pieces [A114]`, () => {
      const expected: Message.Reply["content"] = [{ type: "tool-call", id: "c1", name: "f", arguments: text }]
      assert.deepStrictEqual(ok(whole({ tool_calls: [wireCall("c1", "f", text)] })).content, expected)
      const first = { index: 0, id: "c1", function: { name: "f", arguments: "" } }
      const pieces = Array.from(text, (character) => ({ index: 0, function: { arguments: character } }))
      assert.deepStrictEqual(streamed(first, ...pieces).content, expected)
      assert.deepStrictEqual(streamed({ index: 0, ...wireCall("c1", "f", text) }).content, expected)
    })
  }

  it("keeps absent arguments absent, and an object an object, whole and streamed [A114]", () => {
    for (const [args, expected] of [
      [undefined, null],
      [null, null],
      [{ a: 1 }, { a: 1 }]
    ] as const) {
      const content: Message.Reply["content"] = [{ type: "tool-call", id: "c1", name: "f", arguments: expected }]
      assert.deepStrictEqual(ok(whole({ tool_calls: [wireCall("c1", "f", args)] })).content, content)
      assert.deepStrictEqual(streamed({ index: 0, ...wireCall("c1", "f", args) }).content, content)
    }
  })

  it("keys the pieces of a stream by index, interleaved or not, and orders the calls by it", () => {
    const { content } = streamed(
      { index: 1, id: "b", function: { name: "g", arguments: "[" } },
      { index: 0, id: "a", function: { name: "f", arguments: "{" } },
      { index: 1, id: null, function: { name: null, arguments: "]" } },
      { index: 0, function: { arguments: "}" } }
    )
    assert.deepStrictEqual(content, [
      { type: "tool-call", id: "a", name: "f", arguments: "{}" },
      { type: "tool-call", id: "b", name: "g", arguments: "[]" }
    ])
  })

  it("distinguishes calls without index by their ids", () => {
    const { content } = streamed(
      { id: "a", function: { name: "f", arguments: "{" } },
      { function: { arguments: "}" } },
      { id: "b", function: { name: "g", arguments: "[]" } }
    )
    assert.deepStrictEqual(
      Message.callsOf({ content, finish: "tool-calls", usage: Usage.empty }).map((call) => [call.id, call.arguments]),
      [
        ["a", "{}"],
        ["b", "[]"]
      ]
    )
  })

  it("gives a call without id one that is unique in its reply, and one without name an empty one", () => {
    const { content } = ok(whole({ tool_calls: [{ function: { name: "f" } }, {}, null] }))
    assert.deepStrictEqual(
      Message.callsOf({ content, finish: "stop", usage: Usage.empty }).map((call) => [
        call.id,
        call.name,
        call.arguments
      ]),
      [
        ["call_0", "f", null],
        ["call_1", "", null],
        ["call_2", "", null]
      ]
    )
  })

  it("hands no call over before the stream has ended well [P506]", () => {
    const decoder = codec.decoder(answer(""))
    const start = decoder.push(JSON.stringify(chunk({ tool_calls: [{ index: 0, ...wireCall("c", "f", "{}") }] })))
    assert.deepStrictEqual(start, Result.succeed([]))
    assert.strictEqual(decoder.state(), "open")
    assert.deepStrictEqual(decoder.push(JSON.stringify(chunk({}, "tool_calls"))), Result.succeed([]))
    assert.strictEqual(decoder.state(), "complete")
  })
})

describe("calls that careless servers cut into pieces", () => {
  const piece = (id: string | undefined, name: string | undefined, args: unknown, index?: number) => ({
    ...(id === undefined ? {} : { id }),
    ...(index === undefined ? {} : { index }),
    function: { ...(name === undefined ? {} : { name }), ...(args === undefined ? {} : { arguments: args }) }
  })
  const callsOf = (...pieces: ReadonlyArray<object>) =>
    Message.callsOf(
      ok(decodeStream([...pieces.map((one) => chunk({ tool_calls: [one] })), chunk({}, "tool_calls")]))
    ).map(({ arguments: args, id, name }) => [id, name, args])

  it("belong to the call of their id or index, else to the last one, unless a name begins another", () => {
    assert.deepStrictEqual(callsOf(piece("a", "f", "{"), piece("b", "g", "{"), piece("a", undefined, "}")), [
      ["a", "f", "{}"],
      ["b", "g", "{"]
    ])
    assert.deepStrictEqual(callsOf(piece("a", "f", "{}"), piece("a", "f", "{}")), [
      ["a", "f", "{}"],
      ["a_1", "f", "{}"]
    ])
    assert.deepStrictEqual(callsOf(piece(undefined, "f", "{"), piece(undefined, undefined, "}")), [
      ["call_0", "f", "{}"]
    ])
    assert.deepStrictEqual(callsOf(piece(undefined, "f", "{"), piece(undefined, "f", "}")), [["call_0", "f", "{}"]])
    assert.deepStrictEqual(callsOf(piece(undefined, "f", "{}"), piece(undefined, "f", "{}")), [
      ["call_0", "f", "{}"],
      ["call_1", "f", "{}"]
    ])
    assert.deepStrictEqual(callsOf(piece(undefined, "f", "{"), piece(undefined, "g", "{}")), [
      ["call_0", "f", "{"],
      ["call_1", "g", "{}"]
    ])
    assert.deepStrictEqual(callsOf(piece("a", "f", "{}", 0), piece(undefined, "f", " ", 0)), [["a", "f", "{} "]])
    assert.deepStrictEqual(
      callsOf(piece("a", "f", "{", 0), piece("b", "g", "{", 0), piece(undefined, undefined, "}", 0)),
      [
        ["a", "f", "{"],
        ["b", "g", "{}"]
      ]
    )
  })

  it("have whole arguments after the brace that closes their first object, and nothing but blanks behind it", () => {
    for (const whole of [
      "{}",
      '{"a":{},"b":1}',
      '{"a":"}"}',
      '{"a":"{"}',
      '{"a":"\\\""}',
      '{"\\\\":"\\\\"}',
      '{"a":[{"b":"\\"}"}]} ',
      "{}\n"
    ]) {
      for (const pieces of [[whole], Array.from(whole), [whole.slice(0, -3), whole.slice(-3)]]) {
        const more = pieces.map((text, at) => piece(undefined, at === 0 ? "f" : undefined, text))
        assert.deepStrictEqual(callsOf(...more, piece(undefined, "f", "{}")), [
          ["call_0", "f", whole],
          ["call_1", "f", "{}"]
        ])
      }
    }
    for (const part of ["", "{", '{"a":{}', '{"a":"}', '{"a":"\\"}', "{}x", "{},{}", "[]", "{a}"]) {
      assert.deepStrictEqual(callsOf(piece(undefined, "f", part), piece(undefined, "f", "{}")), [
        ["call_0", "f", `${part}{}`]
      ])
    }
  })

  it("may become whole, and whole no more, with each piece", () => {
    const named = (args: string) => piece(undefined, "f", args)
    assert.deepStrictEqual(callsOf(named("{"), named("}"), named("{}")), [
      ["call_0", "f", "{}"],
      ["call_1", "f", "{}"]
    ])
    assert.deepStrictEqual(callsOf(named("{}"), named(""), piece(undefined, undefined, ",x"), named("{}")), [
      ["call_0", "f", "{},x{}"]
    ])
  })

  it("belong by their index to the call that began last, though another call of this index came in between", () => {
    assert.deepStrictEqual(
      callsOf(
        piece("a", "f", "{", 0),
        piece("b", "g", "{", 0),
        piece("a", undefined, "}", 0),
        piece(undefined, undefined, "}", 0)
      ),
      [
        ["a", "f", "{}"],
        ["b", "g", "{}"]
      ]
    )
    assert.deepStrictEqual(
      callsOf(
        piece("a", "f", "{}", 1),
        piece("a", "f", "{", 2),
        piece("a", undefined, " ", 1),
        piece("a", undefined, "}")
      ),
      [
        ["a", "f", "{} "],
        ["a_1", "f", "{}"]
      ]
    )
  })

  it("with the id `undefined` are not those of a call whose first piece had no id", () => {
    assert.deepStrictEqual(
      callsOf(piece(undefined, "f", "{", 0), piece("b", undefined, "}", 0), piece("undefined", "h", "{}", 0)),
      [
        ["b", "f", "{}"],
        ["undefined", "h", "{}"]
      ]
    )
  })

  it("keep their order by index, stated or counted", () => {
    assert.deepStrictEqual(
      callsOf(piece("a", "f", "{}", 5), piece("b", "g", "{}", 2), piece("c", "h", "{}")).map(([id]) => id),
      ["b", "a", "c"]
    )
  })

  it("take arguments as text or as an object, and null as absent", () => {
    assert.deepStrictEqual(
      callsOf(
        piece("a", "f", null),
        piece("a", undefined, "{"),
        piece("a", undefined, null),
        piece("a", undefined, "}")
      ),
      [["a", "f", "{}"]]
    )
    assert.deepStrictEqual(callsOf(piece("a", "f", { q: 1 })), [["a", "f", { q: 1 }]])
    assert.deepStrictEqual(callsOf(piece("a", "f", undefined)), [["a", "f", null]])
  })
})
