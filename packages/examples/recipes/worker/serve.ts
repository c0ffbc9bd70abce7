/** Runs the worker on this machine: esbuild makes one module of it, as wrangler does, and Miniflare runs it in workerd. */
import { build } from "esbuild"
import { Miniflare } from "miniflare"
import { join } from "node:path"
import type { Readable } from "node:stream"
import type { Env } from "./worker.ts"
import wrangler from "./wrangler.json" with { type: "json" }

const bundle = async (): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, wrangler.main)],
    bundle: true,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    write: false
  })
  return outputFiles[0]?.text ?? ""
}

/** `log` gets the log of the worker. */
export const start = async (env: Env, port: number, log: (text: string) => void) => {
  const worker = new Miniflare({
    modules: true,
    script: await bundle(),
    compatibilityDate: wrangler.compatibility_date,
    compatibilityFlags: wrangler.compatibility_flags,
    bindings: { ...env },
    host: "127.0.0.1",
    port,
    handleRuntimeStdio: (out: Readable, errors: Readable) => {
      for (const output of [out, errors]) output.on("data", (chunk) => log(String(chunk)))
    }
  })
  const url = await worker.ready
  return { url: url.origin, stop: () => worker.dispose() }
}

if (import.meta.main) {
  const { OPENAI_API_KEY, OPENAI_BASE_URL } = process.env
  if (!OPENAI_API_KEY) {
    console.error("set OPENAI_API_KEY")
    process.exit(1)
  }
  const env = { OPENAI_API_KEY, ...(OPENAI_BASE_URL !== undefined && { OPENAI_BASE_URL }) }
  const { stop } = await start(env, 3000, (text) => process.stdout.write(text))
  process.once("SIGTERM", () => void stop())
  process.once("SIGINT", () => void stop())
}
