import { readFileSync } from "node:fs"
import { defineConfig } from "vitepress"

/** What `scripts/site.ts` found out about the pages. */
const { api, published, sidebar, start, tagline } = JSON.parse(
  readFileSync(new URL("../../.cache/site/settings.json", import.meta.url), "utf8")
)

/** Headings have the names that forges give them, so that a link holds here and there. */
const slugify = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-")

export default defineConfig({
  title: "Kintsugi",
  description: tagline,
  lang: "en",
  srcDir: "pages",
  outDir: "dist",
  cacheDir: "../.cache/site/vitepress",
  cleanUrls: true,
  markdown: { anchor: { slugify }, headers: { slugify }, toc: { slugify } },
  // the index of the search, which is fetched by the first search
  vite: { logLevel: "warn", build: { chunkSizeWarningLimit: 2000 } },
  themeConfig: {
    nav: [
      { text: "Guide", link: start, activeMatch: "^/guide/" },
      { text: "API", link: "/api/", activeMatch: "^/api/" },
      { text: "Errors", link: "/errors" },
      { text: "Behaviour", link: "/behaviour" }
    ],
    sidebar: { "/api/": api, "/": sidebar },
    outline: [2, 3],
    search: { provider: "local" },
    ...(published === undefined ? {} : { socialLinks: [{ icon: "github", link: published }] })
  }
})
