import { describe, expect, it } from "vitest"
import { recording } from "../../scripts/trips/recording.ts"
import { type Entered, type Trace, wayIn } from "../../scripts/trips/way.ts"

/** `"tool/a from tool/b"`: a function of `tool/a` is called from `tool/b`. Without `from`, Effect calls it. */
const entry = (text: string): Entered => {
  const [file = "", from] = text.split(" from ")
  return { file, name: "f", from }
}

const traceOf = (...entries: ReadonlyArray<string>): Trace => [
  entry("tool/before"),
  { moment: "fails" },
  ...entries.map(entry),
  entry("run/turn"),
  entry("data/after"),
  { moment: "asked" }
]

const way = (...entries: ReadonlyArray<string>) => {
  const { reentered, files } = wayIn(traceOf(...entries))
  return { files, reentered }
}

describe("wayIn", () => {
  it("begins with the failure, and ends where run/ goes on", () => {
    expect(way("recovery/a", "tool/b from recovery/a")).toEqual({ files: ["recovery/a", "tool/b"], reentered: [] })
    expect(way("tool/b", "data/c from run/turn")).toEqual({ files: ["tool/b"], reentered: [] })
  })

  it("goes on through run/ while tool/ comes after it", () => {
    expect(way("tool/a", "run/b from tool/a", "tool/c from run/b").files).toEqual(["tool/a", "run/b", "tool/c"])
  })

  it("names the files that are left and re-entered", () => {
    expect(way("tool/a", "recovery/b from tool/a", "tool/a from recovery/b").reentered).toEqual(["tool/a"])
    expect(way("tool/a", "recovery/b", "tool/a").reentered).toEqual(["tool/a"])
  })

  it("takes no call within a file, and no helper that it calls, for another entry", () => {
    expect(way("tool/a", "data/b from tool/a", "data/b from tool/a", "tool/a from tool/a").reentered).toEqual([])
  })

  it("refuses a trace without a failure, and one without a settlement", () => {
    expect(() => wayIn([entry("tool/a"), { moment: "asked" }])).toThrow("no failure that is settled")
    expect(() => wayIn([{ moment: "fails" }, entry("tool/a"), { moment: "asked" }])).toThrow("no failure")
  })
})

describe("recording", () => {
  const recorded = (source: string) =>
    recording("file", source).text.replaceAll(/kintsugiEntered\("file",("[^"]*")\)/g, "$1")

  it.each([
    ["a declaration", "function f() { return 1 }", 'function f() {"f"; return 1 }'],
    ["an arrow", "const f = (a) => ({ a })", 'const f = (a) => ("f",({ a }))'],
    ["an arrow behind a cast", "const f = ((a) => a) as F", 'const f = ((a) => ("f",a)) as F'],
    ["the outer one of two arrows", "const f = (a) => (b) => a", 'const f = (a) => ("f",(b) => a)'],
    ["a default", "const f = ({ g = () => 1 }) => g", 'const f = ({ g = () => ("g",1) }) => ("f",g)'],
    ["a property", "f({ g: () => 1, h() {} })", 'f({ g: () => ("g",1), h() {"h";} })'],
    ["a method, not its overloads", "class A { f(): void; f() {} }", 'class A { f(): void; f() {"f";} }'],
    ["a constructor", "class A { constructor() { f() } }", 'class A { constructor() {"A"; f() } }'],
    [
      "private and static ones",
      "class A { #f() {} static g = () => 1 }",
      'class A { #f() {"#f";} static g = () => ("g",1) }'
    ],
    ["a getter", "class A { get f() { return 1 } }", 'class A { get f() {"f"; return 1 } }'],
    ["a named expression", "f(function* g() {})", 'f(function* g() {"g";})']
  ])("marks %s", (_, source, expected) => {
    expect(recorded(source)).toBe(expected)
  })

  it("leaves functions without a name as they are", () => {
    const source = "export default f(() => 1, function () {})"
    expect(recording("file", source)).toEqual({ text: source, names: new Set() })
  })

  it("names the functions", () => {
    expect([...recording("file", "class A { constructor() {} #f() {} }\nconst g = () => 1").names].toSorted()).toEqual([
      "#f",
      "A",
      "g"
    ])
  })
})
