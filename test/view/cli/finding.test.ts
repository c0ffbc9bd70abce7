/** The files of events that the paths of a command lead to. */
import * as NodeFileSystem from "@effect/platform-node-shared/NodeFileSystem"
import * as NodePath from "@effect/platform-node-shared/NodePath"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { root } from "../../../scripts/files.ts"
import { find } from "../../../packages/view/src/cli/finding.ts"
import { folderOfTests } from "./_support/playing.ts"

const { newFolder } = folderOfTests()
const services = Layer.merge(NodeFileSystem.layer, NodePath.layer)
const shown = (path: string) => path.slice(root.length + 1)

/** A folder with these files, which are empty, and links. */
const folderOf = (files: ReadonlyArray<string>, links: Readonly<Record<string, string>> = {}) => {
  const { folder: made } = newFolder()
  mkdirSync(join(made, "deep"))
  for (const name of files) writeFileSync(join(made, name), "")
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(made, name))
  return (name: string) => join(made, name)
}

const file = (path: string) => ({ type: "file" as const, path })

it.effect("the files of a folder come by name, those of folders in it with them [P1239]", () =>
  Effect.gen(function* () {
    const at = folderOf(["b.jsonl", "a.ndjson", "C.JSONL", "jsonl", "a.json", "deep/z.jsonl", "e.jsonl"])
    mkdirSync(at("d.jsonl"))
    writeFileSync(at("d.jsonl/inner.jsonl"), "")
    assert.deepStrictEqual(yield* find([at("")]), {
      sources: ["C.JSONL", "a.ndjson", "b.jsonl", "d.jsonl/inner.jsonl", "deep/z.jsonl", "e.jsonl"].map((name) =>
        file(at(name))
      ),
      unread: [{ file: shown(at("d.jsonl")), reason: "it is a folder" }],
      links: []
    })
  }).pipe(Effect.provide(services))
)

it.effect("links lead to files, and what they name wrongly is left out by name [P1239 P1251]", () =>
  Effect.gen(function* () {
    const at = folderOf(["deep/real.log"], {
      "file.jsonl": "deep/real.log",
      "gone.jsonl": "nowhere",
      "gone.txt": "nowhere",
      "device.jsonl": "/dev/null",
      "device.txt": "/dev/null",
      "folder.jsonl": "deep",
      folder: "deep"
    })
    assert.deepStrictEqual(yield* find([at("")]), {
      sources: [file(at("file.jsonl"))],
      unread: [
        { file: shown(at("device.jsonl")), reason: "it is no regular file" },
        { file: shown(at("gone.jsonl")), reason: "there is no such file" }
      ],
      links: [shown(at("folder")), shown(at("folder.jsonl"))]
    })
  }).pipe(Effect.provide(services))
)

it.effect("a file counts once, by the first of its names, and so does standard input [P1251]", () =>
  Effect.gen(function* () {
    const at = folderOf(["a.jsonl", "b.log"], { "link.log": "a.jsonl" })
    const given = [resolve("-"), at("link.log"), at("a.jsonl"), at("b.log"), at("b.log"), at(""), resolve("-")]
    assert.deepStrictEqual(yield* find([...given, at("gone"), "/dev/null", at("gone")]), {
      sources: [{ type: "stdin" }, file(at("link.log")), file(at("b.log"))],
      unread: [
        { file: shown(at("gone")), reason: "there is no such file" },
        { file: "/dev/null", reason: "it is no regular file" }
      ],
      links: []
    })
  }).pipe(Effect.provide(services))
)
