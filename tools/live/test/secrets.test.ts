/** Which secrets are in no record, and are not printed. */
import { assert, describe, it } from "@effect/vitest"
import { LoopbackServer } from "@kintsugi/providers/testing"
import { Effect } from "effect"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { providerNames } from "../src/providers.ts"
import { commandOf, envOf, filesIn, ran, sentKey } from "./_support/server.ts"

const folder = (): string => mkdtempSync(join(tmpdir(), "live-"))

describe("a key", () => {
  it.live.each(["sk-1234", "hunter2-k1", "opensesame", "clé"])("as short as %s is not printed, nor recorded", (short) =>
    Effect.gen(function* () {
      const { url } = yield* LoopbackServer.make((request) => {
        const said = `No budget left for ${sentKey(request)}, ${Buffer.from(short).toString("hex")}`
        return Effect.succeed({ status: 400, body: JSON.stringify({ error: { message: said, type: "billing" } }) })
      })
      const records = folder()
      const command = commandOf("openai", url, "--scenario=text", "--once")
      const { written } = yield* ran(command, records, { OPENAI_API_KEY: short })
      const files = filesIn(records)
      assert.deepStrictEqual(Object.keys(files), ["text.failed.json"])
      for (const text of [written, ...Object.values(files)]) {
        assert.include(text, "No budget left for <redacted>, ")
        assert.notInclude(text, short)
      }
    })
  )
})

describe("a secret of the URL", () => {
  const secret = "Zq81LmXk0pWvR7t2"
  it.live.each<readonly [where: string, change: (url: string) => string]>([
    ["in a parameter that is called like a credential", (url) => `${url}?code=${secret}`],
    ["in a short parameter that is called like a credential", (url) => `${url}?code=${secret.slice(0, 8)}`],
    ["in a long parameter of another name", (url) => `${url}?k=${secret}`],
    ["in its path", (url) => `${url}/${secret}`],
    ["as its password", (url) => url.replace("http://", `http://user:${secret}@`)]
  ])("is in no record, and not printed: %s", ([, change]) =>
    Effect.gen(function* () {
      const { url } = yield* LoopbackServer.make((request) =>
        Effect.succeed({ status: 400, body: JSON.stringify({ error: { message: `No such page: ${request.path}` } }) })
      )
      for (const provider of providerNames) {
        const records = folder()
        const command = commandOf(provider, url, "--scenario=text,streamed-text", "--once").map((word) =>
          word.startsWith("--base-url=") ? `--base-url=${change(word.slice(11))}` : word
        )
        const { progress, written } = yield* ran(command, records, envOf(provider))
        const all = [...Object.values(filesIn(records)), progress, written].join("\n")
        assert.notInclude(all, secret.slice(0, 8))
        assert.include(all, "streamed text")
      }
    })
  )
})
