"""Black-box checks of any server that speaks the OpenAI Realtime protocol over a websocket."""
