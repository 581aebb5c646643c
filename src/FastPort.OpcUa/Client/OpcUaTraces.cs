using System.Diagnostics;

namespace FastPort.OpcUa.Client;

/// <summary>
/// The <see cref="ActivitySource"/> named <c>FastPort.OpcUa</c>: an activity for each service that the client's caller uses. The client's
/// own traffic (sessions, keep-alive, Publish) has none.
/// </summary>
internal static class OpcUaTraces
{
    private static readonly ActivitySource Source = new("FastPort.OpcUa", typeof(OpcUaTraces).Assembly.GetName().Version?.ToString(3));

    /// <summary>Whether there is a listener.</summary>
    public static bool IsOn => Source.HasListeners();

    /// <summary>Starts a service's activity and makes it current; null if no listener samples it.</summary>
    public static Activity? Start(string service, string endpointUrl)
    {
        if (Activity.Current is { IsStopped: true })
        {
            // A flow that has outlived its cause, such as a feed's.
            Activity.Current = null;
        }

        Activity? activity = Source.StartActivity(service, ActivityKind.Client);
        if (activity is { IsAllDataRequested: true })
        {
            activity.SetTag("rpc.system", "opcua");
            activity.SetTag("rpc.method", service);
            activity.SetTag("opcua.endpoint.url", endpointUrl);
            if (Uri.TryCreate(endpointUrl, UriKind.Absolute, out Uri? uri))
            {
                activity.SetTag("server.address", uri.IdnHost);
                activity.SetTag("server.port", uri.Port);
            }
        }

        return activity;
    }

    /// <summary>Ends a service's activity with it, and restores the caller's activity.</summary>
    /// <param name="service">The service, which has begun under the activity.</param>
    /// <param name="activity">The activity, which is current.</param>
    /// <param name="outer">The caller's activity; null for none.</param>
    public static ValueTask<T> EndWithAsync<T>(ValueTask<T> service, Activity activity, Activity? outer)
    {
        // Code after an await has kept the activity as its current one. One that has ended cannot be current again.
        Activity.Current = outer is { IsStopped: true } ? null : outer;
        return AwaitAsync();

        async ValueTask<T> AwaitAsync()
        {
            try
            {
                return await service.ConfigureAwait(false);
            }
            catch (Exception e)
            {
                activity.SetTag("error.type", e is OpcUaException failed ? failed.Status.ToString() : e.GetType().FullName);
                activity.SetStatus(ActivityStatusCode.Error, e.Message);
                throw;
            }
            finally
            {
                activity.Stop();
            }
        }
    }
}
