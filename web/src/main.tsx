import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app/app.tsx'
import { keepPage, reloadWhenOutdated } from './app/kept/register.ts'
import { copyOriginals } from './drawn/page.ts'
import './app/theme.css'

reloadWhenOutdated()
copyOriginals()

createRoot(document.getElementById('pawl')!).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
void keepPage()
