using System.Diagnostics;

namespace FastPort.OpcUa.Client;

/// <summary>
/// The <see cref="ActivitySource"/> named <c>FastPort.OpcUa</c>: an activity for each service that the client's caller asked for. Its own
/// traffic (sessions, keep-alive, Publish) has none.
/// </summary>
internal static class OpcUaTraces
{
    private static readonly ActivitySource Source = new("FastPort.OpcUa", typeof(OpcUaTraces).Assembly.GetName().Version?.ToString(3));

    /// <summary>Whether anybody listens.</summary>
    public static bool IsOn => Source.HasListeners();

    /// <summary>Starts a service's activity and makes it current; null if nobody samples it.</summary>
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

    /// <summary>Marks a service that failed as a whole.</summary>
    public static void SetFailed(Activity? activity, Exception exception)
    {
        if (activity is { IsAllDataRequested: true })
        {
            activity.SetTag("error.type", exception is OpcUaException failed ? failed.Status.ToString() : exception.GetType().FullName);
            activity.SetStatus(ActivityStatusCode.Error, exception.Message);
        }
    }
}
