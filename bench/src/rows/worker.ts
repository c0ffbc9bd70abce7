/**
 * The cold start of a Cloudflare worker: from the start of workerd until the first answer, with a model on the loopback interface. Ours and
 * bare Effect take turns. Miniflare is that of the recipe of workers, which has an installation of its own.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { build } from "esbuild"
import { root } from "../../../scripts/files.ts"
import { installIn, recipe } from "../../../scripts/sdk.ts"
import { helloOf, inFolder, install, program } from "../bundling.ts"
import { report } from "../figures.ts"
import { assertEqual, interleaved, type Subject, typical } from "../harness.ts"
import { answer, withServer } from "../loopback.ts"

const laps = 11
const home = recipe("worker")
if (!installIn(home)) throw new Error("could not install Miniflare: see the messages above")

/** What is used of Miniflare. Its types are where it is installed. */
interface Host {
  readonly ready: Promise<URL>
  readonly dispose: () => Promise<void>
}
const { Miniflare }: { readonly Miniflare: new (options: object) => Host } = createRequire(
  join(root, home, "package.json")
)("miniflare")
const wrangler: { readonly compatibility_date: string } = JSON.parse(
  readFileSync(join(root, home, "wrangler.json"), "utf8")
)

/** A worker that answers each request by a hello agent, in one module. */
const scriptOf = async (folder: string, name: string, baseUrl: string): Promise<string> => {
  const entry = join(folder, `worker-${name}.mjs`)
  const reply = `new Response(await main("go", ${JSON.stringify(baseUrl)}))`
  writeFileSync(entry, `import { main } from "./${name}.mjs"\nexport default { fetch: async () => ${reply} }`)
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    write: false
  })
  return outputFiles[0]?.text ?? ""
}

const subjectOf = (name: string, script: string): Subject => ({
  name,
  portion: async () => {
    const options = { modules: true, script, compatibilityDate: wrangler.compatibility_date, host: "127.0.0.1" }
    const host = new Miniflare(options)
    try {
      const response = await fetch(await host.ready)
      assertEqual(name, await response.text(), answer)
    } finally {
      await host.dispose()
    }
  }
})

await inFolder((folder) =>
  withServer(async (baseUrl) => {
    install(folder)
    program(folder, "effect", readFileSync(helloOf("effect"), "utf8"))
    const names = { ours: "ours", effect: "bare Effect" }
    const subjects = await Promise.all(
      Object.entries(names).map(async ([file, name]) => subjectOf(name, await scriptOf(folder, file, baseUrl)))
    )
    const samples = await interleaved(subjects, { laps, warmups: 1 })
    const figures = Object.values(names).map((name) => ({ name, value: typical(samples, name), unit: "ms" }))
    report("the cold start of a worker, with its first answer", figures)
  })
)
