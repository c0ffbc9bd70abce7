import { beforeAll, describe, expect, it } from "vitest"
import {
  check,
  documents,
  type Example,
  extract,
  generate,
  installedTypes,
  type Problem
} from "../../scripts/doctest.ts"

const homes = installedTypes()
const fence = "```"

const page = (...lines: ReadonlyArray<string>) => ({ path: "page.md", text: lines.join("\n") })
const example = (...lines: ReadonlyArray<string>): Example => ({
  path: "page.md",
  line: 1,
  code: lines.join("\n"),
  runs: true
})

describe("extract", () => {
  it("takes ts fences of a page, with the line of their first line of code", () => {
    const text = page(
      "# Title",
      `${fence}ts`,
      "1",
      "2",
      fence,
      `${fence}sh`,
      "ls",
      fence,
      `${fence}ts no-run`,
      "3",
      fence
    )
    expect(extract(text)).toEqual([
      { path: "page.md", line: 3, code: "1\n2", runs: true },
      { path: "page.md", line: 10, code: "3", runs: false }
    ])
  })

  it("takes no fence that is shown inside another one, and takes the indent of a list away", () => {
    const text = page("````md", `${fence}ts`, "1", fence, "````", `  ${fence}ts`, "  2", "    3", `  ${fence}`)
    expect(extract(text).map(({ code }) => code)).toEqual(["2\n  3"])
  })

  it("takes the fences of doc comments, and nothing from code or other comments", () => {
    const text = [
      "/**",
      " * Words.",
      " *",
      ` * ${fence}ts`,
      " * const a = {",
      " *   b: 1",
      " * }",
      ` * ${fence}`,
      " */",
      `// ${fence}ts`,
      `const code = "${fence}ts"`,
      "/** one line */",
      `/* ${fence}ts */`
    ]
    expect(extract({ path: "Tool.ts", text: text.join("\n") })).toEqual([
      { path: "Tool.ts", line: 5, code: "const a = {\n  b: 1\n}", runs: true }
    ])
  })

  it("refuses an unknown mark and a fence without an end", () => {
    expect(() => extract(page("", `${fence}ts norun`, fence))).toThrow('page.md:2 marks a fence "norun"')
    expect(() => extract(page("", `${fence}ts`, "1"))).toThrow("page.md:2 opens a fence")
  })
})

describe("generate", () => {
  it("reports every assertion and hover that would not be checked", () => {
    const { problems } = generate(
      example(
        "const [a] = [1] // => [1]",
        "function b() {",
        "  return 1 // => 1",
        "}",
        "b() // => what is this",
        "const c = 1, d = 2",
        "//    ^? number"
      ),
      homes
    )
    expect(problems.map(({ line, message }) => `${line} ${message}`)).toEqual([
      "1 an assertion follows an expression or a constant with one name",
      "5 the expected value is no expression",
      "3 this assertion does not follow a top-level statement",
      "7 a hover points at the name of a top-level constant"
    ])
  })
})

describe("check", () => {
  const lines = (problems: ReadonlyArray<Problem> | undefined) =>
    problems?.map(({ line, message }) => `${line} ${message.split("\n")[0]}`)

  const planted: Record<string, Example> = {
    good: example(
      'import * as Effect from "effect/Effect"',
      'import * as Option from "effect/Option"',
      "const a = [1, 2].map((n) => ({ n })) // => [{ n: 1 }, { n: 2 }]",
      "a.length; // => 2",
      "Effect.runPromise(",
      "  Effect.succeed(3)",
      ") // => 3",
      "const later = Promise.resolve(Option.some(4))",
      "later",
      "// => Option.some(",
      "//   4",
      "// )",
      "class Mine extends Error {",
      '  readonly _tag = "Mine"',
      "}",
      "const program = Effect.fail(new Mine()).pipe(Effect.as(1))",
      "//    ^? Effect<number, Mine>",
      "await Effect.runPromiseExit(program) // => Effect.runSyncExit(Effect.fail(new Mine()))"
    ),
    wrong: example("const a = 1", "a + 1 // => 3", 'const b = Promise.resolve("x") // => "y"'),
    throwing: example("const a: number = 1", "const b = () => {", '  throw new Error("no")', "}", "b()"),
    rejecting: example("await Promise.reject(new Error('no'))"),
    mistyped: example("const a = 1", "const b: string = a", "export { b }"),
    unresolved: example('import { nothing } from "@kintsugi/nowhere"', "nothing()"),
    hover: example('const a = "x" as string', "//    ^? number"),
    anyHover: example("const a = JSON.parse('1')", "//    ^? number"),
    broken: example("const = 1"),
    notRun: { ...example('throw new Error("no")'), runs: false },
    tested: example(
      'import { assert, it } from "@effect/vitest"',
      'import { Effect } from "effect"',
      "it.effect('holds', () => Effect.sync(() => assert.strictEqual(1, 1)))"
    ),
    failingTest: example(
      'import { it } from "@effect/vitest"',
      'import { Effect, Schema } from "effect"',
      "it.effect.prop('does not hold', [Schema.Int], ([n]) => Effect.succeed(n < 0))"
    ),
    noTest: example('import { it } from "@effect/vitest"', "void it"),
    testWithAssertion: example('import { it } from "@effect/vitest"', "void it", "1 // => 2"),
    exits: example("process.exit(0)"),
    last: example("1 // => 1")
  }
  let found: Record<string, ReadonlyArray<string> | undefined> = {}

  beforeAll(() => {
    const problems = check(Object.values(planted), homes)
    found = Object.fromEntries(Object.keys(planted).map((name, index) => [name, lines(problems[index])]))
  }, 60_000)

  it.each([
    ["good", []],
    ["wrong", ["2 gave 2, not 3", "3 gave 'x', not 'y'"]],
    ["throwing", ["3 threw Error: no"]],
    ["rejecting", ["1 threw Error: no"]],
    ["mistyped", ["2 TS2322: Type 'number' is not assignable to type 'string'."]],
    ["unresolved", ["1 TS2307: Cannot find module '@kintsugi/nowhere' or its corresponding type declarations."]],
    ["hover", ["1 TS2322: Type 'boolean' is not assignable to type '{ inferred: string; shown: number; }'."]],
    ["anyHover", ["1 TS2322: Type 'boolean' is not assignable to type '{ inferred: any; shown: number; }'."]],
    ["notRun", []],
    ["tested", []],
    ["failingTest", ["1 Vitest said: "]],
    ["noTest", ["1 Vitest said: No test suite found in file example.test.ts"]],
    ["testWithAssertion", ["1 a test file has its assertions in its tests"]],
    ["exits", ["1 the process ended before this example did"]],
    ["last", ["1 the process ended before this example did"]]
  ])("%s", (name, expected) => {
    expect(found[name]).toEqual(expected)
  })

  it("a syntax error", () => {
    expect(found["broken"]).toEqual(["1 Unexpected token"])
  })
})

describe("the examples", () => {
  const examples = documents().flatMap(extract)
  let problems: ReadonlyArray<ReadonlyArray<Problem>> = []

  beforeAll(() => {
    problems = check(examples, homes)
  }, 180_000)

  it("there is none that goes unchecked", () => {
    expect(problems).toHaveLength(examples.length)
  })

  it.each(examples.map(({ line, path }, index) => [`${path}:${line}`, path, index] as const))(
    "%s",
    (_, path, index) => {
      expect(problems[index]?.map(({ line, message }) => `${path}:${line} ${message}`)).toEqual([])
    }
  )
})
