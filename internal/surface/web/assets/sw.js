// The page's own files are at hand without the network, so that the installed app can say that hew serve is away. Nothing of a
// conversation is ever kept here.
const name = 'hew-abc2563de8704932'
const files = ['/', '/app.js', '/app.css', '/icon.svg', '/manifest.webmanifest']

self.addEventListener('install', (e) => {
  e.waitUntil(caches.open(name).then((c) => c.addAll(files)).then(() => self.skipWaiting()))
})

self.addEventListener('activate', (e) => {
  e.waitUntil(
    caches.keys().then((all) => Promise.all(all.filter((k) => k !== name).map((k) => caches.delete(k)))).then(() => self.clients.claim()),
  )
})

self.addEventListener('fetch', (e) => {
  const url = new URL(e.request.url)
  if (e.request.method !== 'GET' || url.origin !== location.origin || !files.includes(url.pathname) || url.search) return
  // The server first: a page of an older version is only shown when there is no server.
  e.respondWith(fetch(e.request).catch(() => caches.match(e.request).then((kept) => kept ?? Response.error())))
})
