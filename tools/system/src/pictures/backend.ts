/** The backend of the examples, watched in the browser: a person asks, and sees the run. */
import * as Node from "@kintsugi/examples/backend/node"
import * as Server from "@kintsugi/examples/backend/server"
import { layerMemory } from "@kintsugi/examples/backend/shop"
import * as StandIn from "@kintsugi/examples/backend/standIn"
import * as AgentRuns from "@kintsugi/interop/AgentRuns"
import { Context, Effect, Layer, Logger } from "effect"
import { HttpServer } from "effect/http"
import type { Report } from "../../../../scripts/report.ts"
import type { Browser } from "../browser.ts"

const orders = [{ id: "A-17", item: "a lamp", cents: 4900 }]

const serving = Layer.build(
  Layer.provideMerge(
    Server.layer,
    Node.layer({ port: 0, host: "127.0.0.1", gracefulShutdownTimeout: "1 second" })
  ).pipe(Layer.provide([StandIn.layer, layerMemory(orders), AgentRuns.layerSuspendedMemory(), Logger.layer([])]))
).pipe(Effect.map((context) => HttpServer.formatAddress(Context.get(context, HttpServer.HttpServer).address)))

type WritePage = (name: string, html: string) => string

export const backend = (visit: Browser, report: Report, writePage: WritePage): Promise<void> =>
  Effect.runPromise(
    Effect.scoped(Effect.flatMap(serving, (url) => Effect.promise(() => watched(visit, report, url, writePage))))
  )

const watched = async (visit: Browser, report: Report, url: string, writePage: WritePage): Promise<void> => {
  await visit({ what: "the backend", url: `${url}/live` }, async (page) => {
    await page.getByRole("textbox").fill("refund 1200 of order A-17")
    await page.getByRole("button").press("Enter")
    await page.getByRole("status").getByText("The stream has ended.", { exact: true }).waitFor()
    const heading = await page.getByRole("heading", { level: 1 }).textContent()
    report.check("the backend answers its own form with a live page", heading === "A run of the desk", String(heading))
    const said = await page.getByRole("banner").innerText()
    report.check("which draws the run that was asked for", said.includes("refund 1: 1200 cents for A-17"), said)
  })
  const form = `<!doctype html><form method="post" action="${url}/live"><input name="input" value="refund"><button>Go</button></form>`
  await visit(
    { what: "a stranger's form", url: writePage("stranger", form), expected: /status of 403/ },
    async (page) => {
      const [answer] = await Promise.all([page.waitForResponse(`${url}/live`), page.getByRole("button").press("Enter")])
      const refusal = `${answer.status()} ${await answer.text()}`
      report.check(
        "a form of a page from elsewhere starts no run",
        answer.status() === 403 && refusal.includes("Forbidden"),
        refusal
      )
    }
  )
}
