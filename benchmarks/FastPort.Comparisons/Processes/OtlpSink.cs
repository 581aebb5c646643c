using System.Net;

namespace FastPort.Comparisons.Processes;

/// <summary>Takes what a server exports over OTLP and HTTP, and counts the exports.</summary>
internal sealed class OtlpSink : IDisposable
{
    private readonly HttpListener _listener = new();
    private long _exports;

    /// <summary>Begins to take exports on a port of this machine.</summary>
    public OtlpSink(int port)
    {
        _listener.Prefixes.Add($"{EndpointAt(port)}/");
        _listener.Start();
        _ = ServeAsync();
    }

    /// <summary>Exports taken so far.</summary>
    public long Exports => Interlocked.Read(ref _exports);

    /// <summary>The endpoint of a sink on a port of this machine.</summary>
    public static string EndpointAt(int port) => $"http://127.0.0.1:{Invariant.Text(port)}";

    public void Dispose() => _listener.Close();

    private async Task ServeAsync()
    {
        try
        {
            while (true)
            {
                HttpListenerContext context = await _listener.GetContextAsync();
                await context.Request.InputStream.CopyToAsync(Stream.Null);
                context.Response.ContentType = "application/x-protobuf";
                context.Response.Close();
                Interlocked.Increment(ref _exports);
            }
        }
        catch (Exception e) when (e is HttpListenerException or ObjectDisposedException or InvalidOperationException)
        {
            // Disposed, or the server went away.
        }
    }
}
