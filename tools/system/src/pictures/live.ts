/** A run that is seen while it happens. */
import { Page } from "@kintsugi/view"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { written } from "../../../../test/view/_support/references.ts"
import type { Report } from "../../../../scripts/report.ts"
import type { Browser } from "../browser.ts"

export const live = async (visit: Browser, report: Report): Promise<void> => {
  const { events } = written("mended")
  const half = events.findIndex(({ type }) => type === "fix-start")
  const isHalfSeen = Promise.withResolvers<void>()
  const asked: Array<string> = []
  const server = createServer(async (request, response) => {
    if (request.url !== "/runs/events") {
      response.setHeader("content-type", "text/html")
      response.end(Page.live({ url: "/runs/events", body: { input: "How many?" } }))
      return
    }
    let body = ""
    for await (const chunk of request) body += String(chunk)
    asked.push(`${request.method} ${body}`)
    response.setHeader("content-type", "text/event-stream")
    const send = (some: typeof events) => {
      for (const event of some) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    }
    send(events.slice(0, half))
    await isHalfSeen.promise
    send(events.slice(half))
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  try {
    // it is listening on a port
    const { port } = server.address() as AddressInfo
    await visit({ what: "a live page", url: `http://127.0.0.1:${port}/` }, async (page) => {
      const rows = page.locator(".outline .rows [role=row]")
      const entries = page.locator(".entry")
      await rows.nth(1).waitFor({ state: "attached" })
      await entries.nth(4).waitFor({ state: "attached" })
      const early = await rows.count()
      const running = await page.locator("header .status").innerText()
      report.check("a live page says that its run is at work", /running/i.test(running), running)
      await page.keyboard.press("2")
      await entries.first().getByRole("button", { name: "System" }).click()
      isHalfSeen.resolve()
      await page.locator(".stream", { hasText: /^The stream has ended\.$/ }).waitFor()
      await page.locator("header .status.is-completed").waitFor()
      await entries.nth(8).waitFor({ state: "attached" })
      report.check(
        "a live page asks for the events of its run",
        asked.join() === 'POST {"input":"How many?"}',
        asked.join()
      )
      report.check("and draws them while they come", early > 1, String(early))
      const chosen = (await page.locator(".entry.is-selected .heading").allTextContents()).join()
      report.check("what was chosen stays chosen", chosen === "System", chosen)
      const problems = await page.locator(".problems").count()
      report.check("at the end nothing is missing", problems === 0, String(problems))
    })
  } finally {
    isHalfSeen.resolve()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}
