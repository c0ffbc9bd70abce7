/** The reports of the runs that are examples of failures. */
import * as NodeFileSystem from "@effect/platform-node-shared/NodeFileSystem"
import * as NodePath from "@effect/platform-node-shared/NodePath"
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Sink, Stdio } from "effect"
import { Recording, Stats } from "@kintsugi/view"
import { mkdirSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { writeReports } from "../../../packages/view/src/cli/examples.ts"
import type { Source } from "../../../packages/view/src/cli/reading.ts"
import { root } from "../../../scripts/files.ts"
import { midFile } from "../_support/recorded.ts"
import { folderOfTests } from "./_support/playing.ts"

const { file, folder } = folderOfTests()
const shown = (path: string) => path.slice(root.length + 1)
const failing = readFileSync(midFile("mid-fail"), "utf8")
const bounds = { maxLine: 2 ** 20, maxSize: 2 ** 20 }

let files = 0

/** Runs that failed with these tags, in a file each. */
const failed = (tags: ReadonlyArray<string>) => {
  const counted = tags.map((tag, index) => {
    const path = file(
      `${++files}.jsonl`,
      failing.replaceAll("PaymentDeclined", () => JSON.stringify(tag).slice(1, -1))
    )
    const source: Source = { type: "file", path }
    // the later ones come first
    const text = readFileSync(path, "utf8").replaceAll(/"at":(\d+)/g, (_, at) => `"at":${Number(at) - index}`)
    return { source, stats: Stats.of(Recording.parse(text), { file: shown(path) }) }
  })
  return { sources: counted.map(({ source }) => source), stats: Stats.sum(counted.map(({ stats }) => stats)) }
}

/** What it gives for each example, by tag, and says. */
const written = (
  { sources, stats }: { readonly sources: ReadonlyArray<Source>; readonly stats: Stats.Stats },
  target: string,
  beside?: string,
  within: typeof bounds = bounds
) =>
  Effect.gen(function* () {
    const said: Array<string> = []
    const stdio = Stdio.layerTest({
      stderr: () => Sink.forEach((piece) => Effect.sync(() => void said.push(String(piece))))
    })
    const services = Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, stdio)
    const reportOf = yield* Effect.provide(writeReports(stats, sources, target, beside, within), services)
    return { links: stats.ended.map(({ example, tag }) => [tag, reportOf(example)]), said: said.join("") }
  })

it.effect("a report is named after the failure, in letters, digits and hyphens [P1705]", () =>
  Effect.gen(function* () {
    const target = join(folder, "named/deep")
    const long = `Long${"x".repeat(70)}`
    const { links, said } = yield* written(failed(["Plain_1-a", "Odd: <tag>/../!", long]), target)
    assert.deepStrictEqual(links.toSorted(), [
      [long, shown(join(target, `3-${long.slice(0, 60)}.html`))],
      ["Odd: <tag>/../!", shown(join(target, "2-Odd-tag-.html"))],
      ["Plain_1-a", shown(join(target, "1-Plain_1-a.html"))]
    ])
    assert.strictEqual(said, "")
    const page = readFileSync(join(target, "1-Plain_1-a.html"), "utf8")
    assert.include(page, "<title>✕ Plain_1-a · refund-desk</title>")
    assert.match(page, /"test":"/)
  })
)

it.effect("links lead from the file of the result to the report [P1705]", () =>
  Effect.gen(function* () {
    const { links } = yield* written(failed(["A"]), join(folder, "beside/reports"), join(folder, "other/stats.html"))
    assert.deepStrictEqual(links, [["A", "../beside/reports/1-A.html"]])
  })
)

it.effect("the twenty most frequent failures have reports [P1705]", () =>
  Effect.gen(function* () {
    const target = join(folder, "many")
    const { links } = yield* written(failed(Array.from({ length: 22 }, (_, index) => `T${index}`)), target)
    assert.lengthOf(readdirSync(target), 20)
    assert.deepStrictEqual(
      links.filter(([, link]) => link === undefined).map(([tag]) => tag),
      ["T20", "T21"]
    )
  })
)

it.effect("a run of standard input has none, nor one whose file cannot be read any more [P1705]", () =>
  Effect.gen(function* () {
    const target = join(folder, "unread")
    const stats = Stats.of(Recording.parse(failing))
    assert.deepStrictEqual(yield* written({ stats, sources: [{ type: "stdin" }] }, target), {
      links: [["PaymentDeclined", undefined]],
      said: ""
    })
    const one = failed(["A", "B"])
    const small = yield* written(one, target, undefined, { ...bounds, maxSize: 2 ** 10 })
    assert.deepStrictEqual(small.links, [
      ["A", undefined],
      ["B", undefined]
    ])
    const { runId } = one.stats.ended[0]!.example
    const says = `no report of ${runId}: it is larger than 0.0009765625 MiB; --max-size raises the bound\n`
    assert.strictEqual(small.said, says.repeat(2))
    assert.deepStrictEqual(readdirSync(target), [])
  })
)

it.effect("a folder that cannot be written ends the command [P1240 P1705]", () =>
  Effect.gen(function* () {
    const taken = join(folder, "taken")
    mkdirSync(join(taken, "1-A.html"), { recursive: true })
    const { message } = yield* Effect.flip(written(failed(["A"]), taken))
    assert.strictEqual(message, `cannot write ${shown(taken)}: it is a folder, or no file at all`)
    const plain = file("plain", "")
    const other = yield* Effect.flip(written(failed(["A"]), plain))
    assert.match(other.message, new RegExp(`^cannot write ${shown(plain)}: .*(?:EEXIST|exists)`))
  })
)
