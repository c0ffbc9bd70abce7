/** What the command line says of files that have no end, no floor or no text. */
import { Page, Recording, Scene, Svg } from "@kintsugi/view"
import { Stream } from "effect"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it, vi } from "vitest"
import { root } from "../../../scripts/files.ts"
import { kintsugi, folderOfTests } from "./_support/playing.ts"

const { file, folder } = folderOfTests()

const events = readFileSync(join(root, "docs/guide/pictures/events.jsonl"), "utf8")
const lines = events.trimEnd().split("\n")

/** What is only ever read as far as a bound. */
const endless = (piece: Uint8Array) => {
  let pieces = 0
  const stdin = Stream.forever(Stream.sync(() => (pieces++, piece)))
  return { stdin, read: () => (pieces * piece.length) / 2 ** 20 }
}

const bytes = (text: string) => new TextEncoder().encode(text)

/** An event around a value that is nested so deep. */
const deep = (levels: number) =>
  `{"type":"run-start","runId":"deep","agent":"a","turn":0,"at":1,"input":${"[".repeat(levels)}${"]".repeat(levels)}}`

const refusal = (code: number, err: string) => ({ code, out: "", err: `error: ${err}\n` })

describe("a file without an end", () => {
  it("is read as far as the bound of a line, which is named [P1389]", async () => {
    const says = "cannot read /dev/zero: its line 1 is larger than 16 MiB; --max-line raises the bound"
    expect(await kintsugi(["report", "/dev/zero"])).toEqual(refusal(1, says))
    expect(await kintsugi(["report", "/dev/zero", "--max-line", "1"])).toEqual(refusal(1, says.replace("16", "1")))
  })

  it.each([
    ["one line", bytes("x".repeat(65_536)), "its line 1 is larger than 2 MiB; --max-line raises the bound", 2],
    ["lines", bytes(`${lines[0]}\n`.repeat(100)), "it is larger than 3 MiB; --max-size raises the bound", 3],
    ["blank lines", bytes("\n".repeat(65_536)), "it is larger than 3 MiB; --max-size raises the bound", 3],
    ["line ends of old", bytes("\r".repeat(65_536)), "it is larger than 3 MiB; --max-size raises the bound", 3]
  ])(
    "ends both commands where a pipe brings %s: nothing is read beyond the bound [P1389]",
    async (_, piece, says, most) => {
      const bounds = ["--max-line", "2", "--max-size", "3"]
      const report = endless(piece)
      expect(await kintsugi(["report", "-", ...bounds], report)).toEqual(
        refusal(1, `cannot read standard input: ${says}`)
      )
      expect(report.read()).toBeLessThan(most + 0.2)
      const stats = endless(piece)
      const counted = await kintsugi(["stats", "-", ...bounds], stats)
      expect([counted.code, counted.out]).toEqual([1, ""])
      expect(counted.err).toContain(`not counted: standard input: ${says}`)
      expect(stats.read()).toBeLessThan(most + 0.2)
    }
  )

  it("does not end the count of the other files [P1389]", async () => {
    const many = join(folder, "many")
    mkdirSync(many)
    writeFileSync(join(many, "a.jsonl"), `${lines[0]}\n`.repeat(20_000))
    writeFileSync(join(many, "b.jsonl"), events)
    const { code, err, out } = await kintsugi(["stats", many, "--json", "--max-size", "1"])
    expect(code).toBe(0)
    expect(err).toContain("a.jsonl: it is larger than 1 MiB; --max-size raises the bound")
    expect(JSON.parse(out)).toMatchObject({ recordings: 1, unread: [{ reason: expect.stringContaining("1 MiB") }] })
  })

  it("is no module, whether it is a device or a pipe [P1389]", async () => {
    expect(await kintsugi(["explain", "/dev/zero"])).toEqual(refusal(1, "cannot load /dev/zero: it is no regular file"))
  })

  it("may be bounded by 256 MiB [P1389]", async () => {
    const one = file("one.jsonl", `${lines[0]}\n`)
    const { code, out } = await kintsugi(["report", one, "--max-line=256", "--format", "svg"])
    expect([code, out.slice(0, 5)]).toEqual([0, "<svg "])
  })

  it.each(["0", "-1", "257"])("has no bound of %s MiB [P1389]", async (many) => {
    const { code, err } = await kintsugi(["report", "/dev/zero", `--max-line=${many}`])
    expect([code, err]).toEqual([2, expect.stringContaining("is not between 1 and 256")])
  })
})

describe("lines", () => {
  it("are the same however a pipe cuts them, with line ends of any system [P1389]", async () => {
    const text = ['{"a":"\u00e9\ud83d\ude00"}', "", lines[0], "nope", lines[1]]
    const report = async (end: string, size: number) => {
      const all = bytes(text.join(end))
      const pieces = Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
        all.slice(at * size, (at + 1) * size)
      )
      const { err, out } = await kintsugi(["report", "--format", "svg"], { stdin: Stream.fromIterable(pieces) })
      return { err, out }
    }
    const whole = await report("\n", 1_000_000)
    expect(whole.err).toContain("standard input:1: It is no event")
    expect(whole.err).toContain("standard input:4: It is no JSON")
    for (const end of ["\n", "\r\n", "\r"])
      for (const size of [1, 2, 7, 4096]) expect(await report(end, size)).toEqual(whole)
  })
})

describe("an event that is nested deep", () => {
  it.each([5000, 50_000, 500_000])(
    "of %d levels is a problem of its line, and the rest is drawn [P1389]",
    async (levels) => {
      const target = join(folder, `deep-${levels}.html`)
      const input = file(`deep-${levels}.jsonl`, `${lines[0]}\n${deep(levels)}\n${lines.slice(1).join("\n")}\n`)
      const { code, err, out } = await kintsugi(["report", input, "-o", target])
      expect(code).toBe(0)
      expect(out).toMatch(/^✓ Completed: /)
      expect(err).toContain(`deep-${levels}.jsonl:2: It is no event: it is nested more than 256 levels deep.`)
      expect(readFileSync(target, "utf8")).toMatch(/^<!doctype html>/)
      expect((await kintsugi(["stats", input])).code).toBe(0)
    }
  )

  it("is no report by itself [P1389]", async () => {
    const input = file("only.jsonl", deep(50_000))
    const target = join(folder, "only.html")
    const { code, err } = await kintsugi(["report", input, "-o", target])
    expect([code, existsSync(target)]).toEqual([1, false])
    expect(err).toContain("error: ")
    expect(err).toContain("only.jsonl has no event in it")
    expect(err).not.toContain("bug")
  })

  it("and was taken can be drawn [P1389]", () => {
    for (const [levels, taken] of [
      [1, 1],
      [255, 1],
      [256, 0],
      [100_000, 0]
    ] as const) {
      const recording = Recording.parse(deep(levels))
      expect(recording.events).toHaveLength(taken)
      expect(Page.make(recording)).toContain("</html>")
    }
    const value: Array<unknown> = []
    value.push(value, value)
    const cyclic = Recording.fromEvents([{ type: "run-start", runId: "r", agent: "a", turn: 0, at: 1, input: value }])
    expect(cyclic.events).toEqual([])
    expect(cyclic.problems[0]?.says).toContain("256 levels")
  })

  it("takes room in a picture in proportion to its text [P1389]", () => {
    const wide = `[${Array.from({ length: 2000 }, () => `${"[".repeat(200)}1${"]".repeat(200)}`).join(",")}]`
    const line = `{"type":"run-start","runId":"r","agent":"a","turn":0,"at":1,"input":${wide}}`
    const said = Scene.make(Recording.parse(line)).transcript.reduce((sum, { text }) => sum + text.length, 0)
    expect(said).toBeLessThan(20 * line.length)
  })
})

describe("a page", () => {
  it("that is too long for a string is no report, and any other failure of drawing is a bug [P1389]", async () => {
    const [whole, page] = [file("long.jsonl", events), join(folder, "long.html")]
    const drawn = (json: () => string) => {
      const stringify = JSON.stringify.bind(JSON)
      const spied = vi
        .spyOn(JSON, "stringify")
        .mockImplementation((value: unknown) =>
          typeof value === "object" && value !== null && "problems" in value ? json() : stringify(value)
        )
      return kintsugi(["report", whole, "-o", page]).finally(() => spied.mockRestore())
    }
    expect(await drawn(() => "x".repeat(2 ** 30))).toEqual({
      code: 1,
      out: "",
      err: "error: the events are too many for one report; kintsugi stats counts them\n"
    })
    await expect(drawn(() => "x".repeat(-1))).rejects.toThrow("Invalid count value")
    await expect(
      drawn(() => {
        throw new Error("no string length")
      })
    ).rejects.toThrow("no string length")
    expect(existsSync(page)).toBe(false)
  })

  it("has room for more runs below one than a call takes arguments [P1389]", () => {
    const starts = Array.from(
      { length: 130_000 },
      (_, at) => `{"type":"run-start","runId":"r${at}","agent":"a${at}","turn":0,"at":1,"parent":{"runId":"r"}}`
    )
    const top = '{"type":"run-start","runId":"r","agent":"a","turn":0,"at":1}'
    expect(Scene.make(Recording.fromLines([top, ...starts])).tracks).toHaveLength(130_001)
  })

  it("counts what is wrong with a file that is something else, and lists some [P1389]", () => {
    const { events: taken, problems } = Recording.fromLines([
      ...Array.from({ length: 50_000 }, () => "x"),
      lines[0] ?? ""
    ])
    expect(taken).toHaveLength(1)
    expect(problems.length).toBeLessThan(1100)
    expect(problems.some(({ says }) => says === "As much is wrong with 49000 more lines.")).toBe(true)
    expect(Svg.draw(Scene.make({ events: taken, problems }))).toContain("</svg>")
  })
})

describe("a file that is no text", () => {
  it.each([
    ["a picture", Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82])],
    ["a database", bytes("SQLite format 3\0\n\n\0")],
    ["a module", bytes("\0asm\u0001\0\0\0\n\n")],
    ["noise", Uint8Array.from({ length: 100_000 }, (_, at) => (at * 7919 + (at >> 3) * 31) % 256)]
  ])("is named as such: %s [P1389]", async (name, content) => {
    const path = join(folder, `${name.replaceAll(" ", "-")}.jsonl`)
    writeFileSync(path, content)
    const { code, err, out } = await kintsugi(["report", path])
    expect([code, out]).toEqual([1, ""])
    expect(err).toMatch(/^error: cannot read .*\.jsonl: it is no text, and events are lines of JSON\n$/)
    expect((await kintsugi(["stats", path])).err).toContain("it is no text, and events are lines of JSON")
  })

  it("is one of events still where a crash has left zeros behind them [P1389]", async () => {
    const torn = file("torn.jsonl", `${lines[0]}\n${"\0".repeat(4096)}`)
    const { code, err } = await kintsugi(["report", torn, "-o", join(folder, "torn.html")])
    expect(code).toBe(0)
    expect(err).toContain("torn.jsonl:2: ")
  })
})
