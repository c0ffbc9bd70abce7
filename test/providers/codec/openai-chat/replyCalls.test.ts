/** The tool calls of replies, whole and in pieces. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import type { Schema } from "effect"
import { chunk, decodeStream, ok, whole, wireCall } from "./_support/replies.ts"

it("calls are read as they came, whole and streamed in any pieces, and get what they lack [A114]", () => {
  const texts = ['{"a":1}', '{"city": "Oslo", "unit": ', "", "nonsense", '{"a":1,}', '"text"', " "]
  const args: ReadonlyArray<readonly [sent: Schema.Json | undefined, read: Schema.Json]> = [
    ...texts.map((text) => [text, text] as const),
    [undefined, null],
    [null, null],
    [{ a: 1 }, { a: 1 }]
  ]
  const expected = args.map(([, read], at) => ({ type: "tool-call", id: `c${at}`, name: "f", arguments: read }))
  const sent = args.map(([sent], at) => wireCall(`c${at}`, "f", sent))
  const nameless = ["call_0", "call_1"].map((id) => ({ type: "tool-call", id, name: "", arguments: null }))
  const streamed = (pieces: ReadonlyArray<object>) =>
    ok(decodeStream([...pieces.map((piece) => chunk({ tool_calls: [piece] })), "[DONE]"])).content
  assert.deepStrictEqual<unknown>(ok(whole({ tool_calls: sent })).content, expected)
  assert.deepStrictEqual<unknown>(streamed(sent.map((call, index) => ({ index, ...call }))), expected)
  const inPieces = sent
    .slice(0, texts.length)
    .flatMap((call, index) => [
      { index, id: call.id, function: { name: "f", arguments: "" } },
      ...Array.from(texts[index] ?? "", (character) => ({ index, function: { arguments: character } }))
    ])
  assert.deepStrictEqual<unknown>(streamed(inPieces), expected.slice(0, texts.length))
  assert.deepStrictEqual<unknown>(ok(whole({ tool_calls: [{}, null] })).content, nameless)
  assert.deepStrictEqual<unknown>(streamed([{ index: 0 }, { index: 1 }]), nameless)
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

  const cuts: Readonly<Record<string, readonly [pieces: ReadonlyArray<object>, calls: ReadonlyArray<unknown>]>> = {
    "by their id": [
      [piece("a", "f", "{"), piece("b", "g", "{"), piece("a", undefined, "}")],
      [
        ["a", "f", "{}"],
        ["b", "g", "{"]
      ]
    ],
    "by their index, interleaved, and null says nothing": [
      [
        piece("b", "g", "[", 1),
        piece("a", "f", "{", 0),
        { index: 1, id: null, function: { name: null, arguments: "]" } },
        piece(undefined, undefined, "}", 0)
      ],
      [
        ["a", "f", "{}"],
        ["b", "g", "[]"]
      ]
    ],
    "by their index, where all have one id": [
      [piece("x", "v", "{}", 1), piece("x", "w", "{}", 0)],
      [
        ["x", "w", "{}"],
        ["x_1", "v", "{}"]
      ]
    ],
    "by id and index, and without an index by id": [
      [piece("a", "f", "{}", 1), piece("a", "f", "{", 2), piece("a", undefined, " ", 1), piece("a", undefined, "}")],
      [
        ["a", "f", "{} "],
        ["a_1", "f", "{}"]
      ]
    ],
    "to the call of their index that began last, though a piece of another came in between": [
      [
        piece("a", "f", "{", 0),
        piece("b", "g", "{", 0),
        piece("a", undefined, "}", 0),
        piece(undefined, undefined, "}", 0)
      ],
      [
        ["a", "f", "{}"],
        ["b", "g", "{}"]
      ]
    ],
    "to the last call, where they have neither": [
      [piece(undefined, "f", "{}"), piece("b", "g", '{"b"'), piece(undefined, undefined, ":1}")],
      [
        ["call_0", "f", "{}"],
        ["b", "g", '{"b":1}']
      ]
    ],
    "though an id, a name or nothing at all comes after their arguments": [
      [
        piece(undefined, undefined, "{", 0),
        piece("a", undefined, "}", 0),
        piece(undefined, "f", undefined, 0),
        { index: 0 }
      ],
      [["a", "f", "{}"]]
    ],
    "though their name comes after arguments without an index": [
      [piece(undefined, undefined, "{"), piece(undefined, "f", "}")],
      [["call_0", "f", "{}"]]
    ],
    "though a name is repeated before the arguments are whole, or without any": [
      [piece(undefined, "f", "{"), piece(undefined, "f", "}"), piece(undefined, "f", "")],
      [["call_0", "f", "{}"]]
    ],
    "though a name is repeated with the index, or with index and id, after whole arguments": [
      [piece("a", "f", "{}", 0), piece(undefined, "f", " ", 0), piece("a", "f", "\n", 0)],
      [["a", "f", "{} \n"]]
    ],
    "unless another name begins another call": [
      [piece(undefined, "f", "{"), piece(undefined, "g", "{}")],
      [
        ["call_0", "f", "{"],
        ["call_1", "g", "{}"]
      ]
    ],
    "unless a name is repeated after whole arguments": [
      [piece("", "f", "{}"), piece(undefined, "f", "{}"), piece("a", "f", "{}"), piece("a", "f", "{}")],
      [
        ["call_0", "f", "{}"],
        ["call_1", "f", "{}"],
        ["a", "f", "{}"],
        ["a_3", "f", "{}"]
      ]
    ],
    "and the id `undefined` is not that of a call whose first piece had none": [
      [piece(undefined, "f", "{", 0), piece("b", undefined, "}", 0), piece("undefined", "h", "{}", 0)],
      [
        ["b", "f", "{}"],
        ["undefined", "h", "{}"]
      ]
    ],
    "and arguments that are null are none": [
      [piece("a", "f", null), piece("a", undefined, "{"), piece("a", undefined, null), piece("a", undefined, "}")],
      [["a", "f", "{}"]]
    ],
    "in the order of their indices, and one without an index comes after those before it": [
      [piece("a", "f", "{}", 5), piece("b", "g", "{}", 2), piece("c", "h", "{}"), piece("d", "i", "{}", 0)],
      [
        ["d", "i", "{}"],
        ["b", "g", "{}"],
        ["a", "f", "{}"],
        ["c", "h", "{}"]
      ]
    ]
  }
  for (const [how, [pieces, calls]] of Object.entries(cuts)) {
    it(`belong to their call [A114]: ${how}`, () => assert.deepStrictEqual<unknown>(callsOf(...pieces), calls))
  }

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
})
