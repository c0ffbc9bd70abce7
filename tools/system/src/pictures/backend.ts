/** The backend of the examples, watched in the browser: a person asks, and sees the run. */
import * as Node from "@kintsugi/examples/backend/node"
import * as Server from "@kintsugi/examples/backend/server"
import { layerMemory } from "@kintsugi/examples/backend/shop"
import * as StandIn from "@kintsugi/examples/backend/standIn"
import * as Suspended from "@kintsugi/examples/backend/suspended"
import { Context, Effect, Layer, Logger } from "effect"
import { HttpServer } from "effect/http"
import type { Report } from "../../../../scripts/report.ts"
import type { Tab } from "../tab.ts"

const orders = [{ id: "A-17", item: "a lamp", cents: 4900 }]

const serving = Layer.build(
  Layer.provideMerge(
    Server.layer,
    Node.layer({ port: 0, host: "127.0.0.1", gracefulShutdownTimeout: "1 second" })
  ).pipe(Layer.provide([StandIn.layer, layerMemory(orders), Suspended.layerMemory, Logger.layer([])]))
).pipe(Effect.map((context) => HttpServer.formatAddress(Context.get(context, HttpServer.HttpServer).address)))

type Place = (name: string, html: string) => string

export const backend = (tab: Tab, report: Report, place: Place): Promise<void> =>
  Effect.runPromise(
    Effect.scoped(Effect.flatMap(serving, (url) => Effect.promise(() => watched(tab, report, url, place))))
  )

/** Waits on the next page: whoever looks while a page goes away is told just that. */
const arrived = async (tab: Tab, expression: string, times = 3): Promise<void> => {
  try {
    await tab.until(expression)
  } catch (error) {
    if (times === 0 || !String(error).includes("navigated")) throw error
    await arrived(tab, expression, times - 1)
  }
}

const watched = async (tab: Tab, report: Report, url: string, place: Place): Promise<void> => {
  await tab.open(`${url}/live`)
  await tab.evaluate("document.querySelector('textarea').value = 'refund 1200 of order A-17'")
  // as a person does: a script of the test sends nothing by itself
  await tab.evaluate("document.querySelector('button').focus()")
  await tab.press("Enter")
  await arrived(tab, "document.querySelector('.status')?.textContent === 'The stream has ended.'")
  const heading = await tab.evaluate<string>("document.querySelector('h1').textContent")
  report.check("the backend answers its own form with a live page", heading === "A run of the desk", heading)
  const said = await tab.evaluate<string>("document.querySelector('main').innerText")
  report.check("which draws the run that was asked for", said.includes("refund 1: 1200 cents for A-17"), said)
  report.check("without a fault in the console", tab.faults.length === 0, tab.faults.join())
  const form = `<!doctype html><form method="post" action="${url}/live"><input name="question" value="refund"><button>Go</button></form>`
  await tab.open(place("stranger", form))
  await tab.evaluate("document.querySelector('button').focus()")
  await tab.press("Enter")
  await arrived(tab, "document.body?.innerText.includes('title')")
  const refusal = await tab.evaluate<string>("document.body.innerText")
  report.check("a form of a page from elsewhere starts no run", refusal.includes("Forbidden"), refusal)
}
