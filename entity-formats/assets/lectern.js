// What pages do better with a script; all work without it. Texts never become markup.
'use strict';

const SECOND = 1000;

const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const one = (selector, root = document) => root.querySelector(selector);
const isPost = (form) => form.getAttribute('method') === 'post';
const here = () => location.pathname + location.search;

function make(tag, attributes, ...inside) {
  const element = document.createElement(tag);
  Object.entries(attributes).forEach((it) => element.setAttribute(...it));
  element.append(...inside);
  return element;
}

function makeButton(label, act) {
  const button = make('button', { type: 'button', class: 'button is-small' }, label);
  button.addEventListener('click', act);
  return button;
}

/** The path to which a form is sent. `form.action` may be a field. */
function target(form, button) {
  const address = button?.getAttribute('formaction') ?? form.getAttribute('action') ?? '';
  return new URL(address, location.href).pathname;
}

/** Reads what is kept, or keeps `value`; null is nothing. Storage may be full or forbidden. */
function stored(key, value, where = 'localStorage') {
  try {
    if (value === undefined) return JSON.parse(window[where].getItem(key));
    if (value === null) window[where].removeItem(key);
    else window[where].setItem(key, JSON.stringify(value));
  } catch {}
  return null;
}

const ask = (address, type, more) => fetch(address, { headers: { Accept: type }, ...more });

/** For those who hear pages. */
function say(text) {
  one('body > .hidden')?.remove();
  const line = make('p', { class: 'hidden', role: 'status' });
  document.body.append(line);
  setTimeout(() => line.append(text), SECOND / 10);
}

// Typed texts are kept in this browser until they are accepted.

const TYPED = 'textarea, [type=text], [type=url], [type=email], [type=number]';
const changed = new Set();
const offered = new WeakMap();
let keeping = 0;
/** The form that this page gives back. */
let givenBack = null;

function drawer() {
  const account = one('#account')?.dataset.account;
  return account && `lectern:${encodeURIComponent(account)}:`;
}

const isBack = (form) => givenBack?.action === target(form);
const keyOf = (form) => (isBack(form) ? givenBack.key : `${drawer()}${here()} ${target(form)}`);

const keptKeys = (prefix) => Object.keys(localStorage).filter((it) => it.startsWith(prefix));

const fieldsOf = (form) => all(TYPED, form).map((it, index) => [`${it.name} ${index}`, it]);

function keep(form) {
  const typed = fieldsOf(form).filter(([, it]) => it.value !== it.defaultValue).map(([name, it]) => [name, it.value]);
  // What was sent and what is offered stay.
  const kept = isBack(form) ? stored(keyOf(form))?.texts : offered.get(form);
  const texts = { ...kept, ...Object.fromEntries(typed) };
  stored(keyOf(form), Object.keys(texts).length ? { time: Date.now(), texts } : null);
}

function keepChanged() {
  clearTimeout(keeping);
  changed.forEach(keep);
  changed.clear();
}

function dropOld() {
  const age = (key) => Date.now() - (stored(key)?.time ?? 0);
  const keys = keptKeys('lectern:').sort((a, b) => age(a) - age(b));
  keys.filter((it, index) => index >= 50 || age(it) > 7 * 86400 * SECOND).forEach((it) => stored(it, null));
}

/** Finds out whether the last form was accepted. */
function settle(isAnswer) {
  const sent = stored('lectern-sent', undefined, 'sessionStorage');
  stored('lectern-sent', null, 'sessionStorage');
  if (!sent || !isAnswer(sent)) return;
  if (one('main [role=alert], main [action="/portal/xlogin"]')) givenBack = sent;
  else stored(sent.key, null);
}

/** An accepted form leads on, or its answer stands at its own address. */
function isAnswer(sent) {
  const [{ type, redirectCount }] = performance.getEntriesByType('navigation');
  return type === 'navigate' && (redirectCount > 0 || location.pathname === sent.to);
}

function offer(form) {
  const texts = stored(keyOf(form))?.texts ?? {};
  const lost = fieldsOf(form).filter(([name, it]) => name in texts && texts[name] !== it.value);
  if (!lost.length) return;
  offered.set(form, texts);
  const decide = (isWanted) => {
    if (isWanted) lost.forEach(([name, it]) => { it.value = texts[name]; });
    offered.delete(form);
    keep(form);
    notice.remove();
    lost[0][1].focus();
  };
  const notice = make('div', { class: 'said actions', role: 'status' }, 'You have a text here that was not sent.',
    makeButton('Restore', () => decide(true)), makeButton('Discard', () => decide(false)));
  form.before(notice);
  notice.closest('details')?.setAttribute('open', '');
}

function onInput({ target: field }) {
  if (!field.form || !isPost(field.form)) return;
  if (quiz?.form === field.form) quiz.isChanged = true;
  if (!drawer() || !field.matches(TYPED)) return;
  changed.add(field.form);
  clearTimeout(keeping);
  keeping = setTimeout(keepChanged, SECOND / 4);
}

function noteSent(form, button) {
  keepChanged();
  if (target(form) === '/portal/logout') keptKeys(drawer()).forEach((it) => stored(it, null));
  else if (drawer() && fieldsOf(form).length) {
    stored('lectern-sent', { key: keyOf(form), action: target(form), to: target(form, button) }, 'sessionStorage');
  }
}

// Answers of a quiz are saved while they are given.

let quiz = null;

function watchQuiz(form, button) {
  const line = make('p', { class: 'small', role: 'status' });
  one('.actions', form).after(line);
  const own = { form, isChanged: false, saving: null };
  const send = async () => {
    own.isChanged = false;
    const body = new URLSearchParams(new FormData(form));
    const answer = await ask(target(form, button), 'application/json', { method: 'POST', body });
    const error = answer.ok ? null : (await answer.json()).error;
    const isPartly = error?.code === 'partly_saved';
    if (error && !isPartly) throw new Error(answer.status === 401 ? 'log in again in another tab' : error.message);
    const time = new Date().toTimeString().slice(0, 5);
    line.textContent = `Saved at ${time}${isPartly ? ', except an answer that can’t be taken' : ''}`;
    if (!error && !own.isChanged) stored(keyOf(form), null);
  };
  const fail = (error) => {
    own.isChanged = true;
    line.textContent = `Not saved: ${error instanceof TypeError ? 'the service can’t be reached' : error.message}`;
  };
  own.save = () => {
    if (own.isChanged) own.saving ??= send().catch(fail).finally(() => { own.saving = null; });
  };
  own.timers = [setInterval(own.save, 20 * SECOND)];
  quiz = own;
  const end = one('main .lead time');
  if (end) countTo(Date.parse(end.dateTime), end.closest('p'), own);
}

function countTo(end, place, own) {
  const left = make('p', { class: 'lead', role: 'timer' });
  place.after(left);
  let minutes = Infinity;
  const tick = () => {
    const now = Math.max(0, Math.ceil((end - Date.now()) / SECOND));
    left.textContent = now ? `Time left: ${Math.floor(now / 60)}:${`${now % 60}`.padStart(2, 0)}` : 'The time is over.';
    const still = Math.ceil(now / 60);
    if (still < minutes && (still === 5 || still === 1)) say(left.textContent);
    if (now === 5) own.save();
    minutes = still;
  };
  own.timers.push(setInterval(tick, SECOND));
  tick();
}

/** Older answers that are under way must not come after newer ones. */
function waitsForQuiz(event) {
  if (event.target !== quiz?.form) return false;
  quiz.timers.forEach(clearInterval);
  if (!quiz.saving) return false;
  event.preventDefault();
  quiz.saving.then(() => event.target.requestSubmit(event.submitter));
  return true;
}

// Files are dropped, and one sees how far they are.

function onDrag(event) {
  const chooser = event.target.closest?.('.control')?.querySelector('input[type=file]');
  one('.is-over')?.classList.remove('is-over');
  const { files, types } = event.dataTransfer;
  if (!chooser || !types.includes('Files')) return;
  event.preventDefault();
  if (event.type === 'dragover') chooser.classList.add('is-over');
  else if (chooser.multiple || files.length === 1) chooser.files = files;
}

/** Shows an answer of the service in the place of this page. No script in it runs. */
function show(page) {
  const chosen = all('input[type=file]').map((it) => [it.id, it.files]);
  document.title = page.title;
  document.body.replaceWith(document.adoptNode(page.body));
  settle(() => true);
  start();
  for (const [id, files] of chosen) {
    if (one(`#${id}`)) one(`#${id}`).files = files;
  }
  one('#content').focus();
}

/** Goes on as if the browser had sent the form. */
function arrive(request, to) {
  const [page, address] = [request.response, request.responseURL];
  if (!page) return location.assign(address);
  if (new URL(address).pathname !== to) history.replaceState(null, '', address);
  show(page);
}

function upload(form, button) {
  const body = new FormData(form);
  if (button?.name) body.append(button.name, button.value);
  const request = new XMLHttpRequest();
  const bar = make('progress', { 'aria-label': 'Sent', value: 0 });
  const line = make('p', { class: 'actions upload' }, bar, makeButton('Cancel', () => request.abort()));
  const buttons = all('[type=submit]', form);
  const end = (text) => () => {
    buttons.forEach((it) => { it.disabled = false; });
    line.replaceChildren(make('span', { role: 'alert' }, text));
  };
  one('.upload', form)?.remove();
  form.append(line);
  buttons.forEach((it) => { it.disabled = true; });
  request.upload.onprogress = (it) => { bar.value = it.loaded / it.total; };
  request.onabort = end('Cancelled: nothing was sent.');
  request.onerror = end('Not sent: the service can’t be reached. Try again.');
  request.onload = () => arrive(request, target(form, button));
  request.responseType = 'document';
  request.open('POST', target(form, button));
  request.setRequestHeader('Accept', 'text/html');
  request.send(body);
}

function onSubmit(event) {
  const form = event.target;
  if (!isPost(form) || waitsForQuiz(event)) return;
  noteSent(form, event.submitter);
  if (all('input[type=file]', form).some((it) => it.files.length)) {
    event.preventDefault();
    upload(form, event.submitter);
  }
}

// In a table of fields Enter goes on as in a spreadsheet, and with Ctrl it sends.

function onKey(event) {
  const field = event.target;
  if (event.key !== 'Enter' || event.isComposing || !field.form || !field.matches('input')) return;
  const cell = field.closest('.sheet td, .sheet th');
  if (!cell) return;
  event.preventDefault();
  if (event.ctrlKey) return field.form.requestSubmit();
  const below = cell.parentElement.nextElementSibling?.cells[cell.cellIndex]?.querySelector('input, select');
  below?.focus();
  below?.select?.();
}

// Buttons write markup.

const MARKUP = {
  Bold: ['<strong>', '</strong>'],
  List: ['<ul>\n<li>', '</li>\n</ul>'],
  Link: ['<a href="https://">', '</a>'],
  Code: ['<code>', '</code>'],
  Formula: ['<code>\\( ', ' \\)</code>'],
};

function mark(area, kind) {
  const { selectionStart: from, selectionEnd: to, value } = area;
  // Lines end by themselves in plain text only.
  const isPlain = !/<\/?[a-z][^>]*>/i.test(value);
  const part = (...range) => (isPlain ? value.slice(...range).replaceAll('\n', '<br>\n') : value.slice(...range));
  const [before, after] = MARKUP[kind];
  const chosen = part(from, to);
  const inside = kind === 'List' ? chosen.replace(/(<br>)?\n/g, '</li>\n<li>') : chosen;
  const begin = part(0, from) + before;
  const text = begin + inside + after + part(to);
  if (area.maxLength >= 0 && text.length > area.maxLength) return;
  area.focus();
  area.select();
  // This can be undone.
  document.execCommand('insertText', false, text);
  // Of a link the address is typed next.
  const at = begin.length - (kind === 'Link' ? 2 : 0);
  area.setSelectionRange(at, kind === 'Link' ? at : at + inside.length);
}

function addToolbar(area) {
  const buttons = Object.keys(MARKUP).map((it) => makeButton(it, () => mark(area, it)));
  area.before(make('div', { class: 'actions toolbar', role: 'group', 'aria-label': 'Markup' }, ...buttons));
}

// What others do meanwhile is shown while somebody looks.

const news = new Set();
let stream = null;
let opening = 0;
let asking = 0;

function follow() {
  clearTimeout(opening);
  stream?.close();
  if (document.hidden || !drawer()) return;
  // Not for those who only pass through.
  opening = setTimeout(() => {
    stream = new EventSource('/api/users/me/events');
    stream.onmessage = (event) => hear(JSON.parse(event.data).reference.split('/')[1]);
  }, 2 * SECOND);
}

/** Many hear the same: they do not all ask at once. */
function hear(type) {
  news.add(type);
  clearTimeout(asking);
  asking = setTimeout(refresh, SECOND * (0.2 + 2 * Math.random()));
}

async function refresh() {
  const stale = all('main [data-live]').filter((it) => news.has(it.dataset.live));
  // Nobody loses the place at which they are.
  if (stale.some((it) => it.contains(document.activeElement))) return hear();
  news.clear();
  await ring().catch(() => {});
  if (!stale.length) return;
  const answer = await ask(here(), 'text/html').catch(() => null);
  if (!answer?.ok) return;
  const fresh = all('main [data-live]', new DOMParser().parseFromString(await answer.text(), 'text/html'));
  all('main [data-live]').forEach((it, index) => {
    if (fresh[index]?.dataset.live === it.dataset.live) it.replaceChildren(...fresh[index].childNodes);
  });
  say('There is something new on this page.');
}

/** Marks the bell if a notification was not seen. */
async function ring() {
  const bell = one('.top [data-live]');
  if (!bell || bell.querySelector('.count')) return;
  const answer = await fetch('/direct/notification.json?viewed=false&_limit=1');
  if ((await answer.json()).notification_collection.length) bell.append(make('span', { class: 'count' }, make('span', { class: 'hidden' }, '(new)')));
}

/** By this clock pages tell times to those who have chosen none. */
function tellZone() {
  const cookie = `lectern-zone=${Intl.DateTimeFormat().resolvedOptions().timeZone}`;
  if (document.cookie.split('; ').includes(cookie)) return;
  document.cookie = `${cookie}; path=/; max-age=31536000; samesite=lax`;
}

function start() {
  changed.clear();
  quiz?.timers.forEach(clearInterval);
  quiz = null;
  if (drawer()) all('form').filter(isPost).forEach(offer);
  all('textarea[data-markup]').forEach(addToolbar);
  const save = one('main [formaction^="/direct/quiz-attempt/"][formaction$="/save"]');
  if (save) watchQuiz(save.form, save);
}

const on = (type, act) => document.addEventListener(type, act);
on('input', onInput);
on('submit', onSubmit);
on('keydown', onKey);
['dragover', 'dragleave', 'drop'].forEach((it) => on(it, onDrag));
on('visibilitychange', keepChanged);
on('visibilitychange', follow);

tellZone();
dropOld();
settle(isAnswer);
start();
follow();
