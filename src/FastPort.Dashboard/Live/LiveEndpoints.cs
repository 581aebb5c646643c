using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;

namespace FastPort.Dashboard.Live;

/// <summary>The stream of figures, as server-sent events.</summary>
internal sealed class LiveEndpoints(LiveFeed feed) : IDashboardEndpoints
{
    public void Map(IEndpointRouteBuilder routes) => routes.MapGet("/events", StreamAsync);

    private async Task StreamAsync(HttpContext context)
    {
        // Abort ends the write that a slow reader has kept waiting.
        if (feed.Open(context.Abort) is not { } reader)
        {
            context.Response.StatusCode = StatusCodes.Status503ServiceUnavailable;
            await context.Response.WriteAsync($"The server has stopped, or has {LiveFeed.MaxReaders} readers already.")
                .ConfigureAwait(false);
            return;
        }

        try
        {
            context.Response.ContentType = "text/event-stream";

            // Otherwise nginx and similar proxies buffer answers: figures would be delayed for seconds, or with compression never arrive.
            context.Response.Headers["X-Accel-Buffering"] = "no";
            await foreach (byte[] bytes in reader.ReadAllAsync(context.RequestAborted).ConfigureAwait(false))
            {
                await context.Response.Body.WriteAsync(bytes, context.RequestAborted).ConfigureAwait(false);
                await context.Response.Body.FlushAsync(context.RequestAborted).ConfigureAwait(false);
            }
        }
        catch (OperationCanceledException) when (context.RequestAborted.IsCancellationRequested)
        {
            // The page was closed, or dropped.
        }
        finally
        {
            feed.Close(reader);
        }
    }
}
