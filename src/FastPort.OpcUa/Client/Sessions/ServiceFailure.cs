namespace FastPort.OpcUa.Client;

/// <summary>Exceptions of requests that failed as a whole: endpoint, service and status, and how far the request came.</summary>
internal static class ServiceFailure
{
    /// <summary>The response of a request that succeeded.</summary>
    /// <exception cref="OpcUaException">It failed.</exception>
    public static T Check<T>(in ServiceResult<T> result, string service, string endpointUrl) =>
        result.Status.IsGood ? result.Response : throw Create(result.Status, service, endpointUrl, result.Fate);

    public static OpcUaException Create(
        StatusCode status, string service, string endpointUrl, RequestFate fate = RequestFate.Answered) =>
        new(status, $"{service} of {endpointUrl} failed: {status}.{Describe(fate)}")
        {
            MayHaveExecuted = fate == RequestFate.Unanswered,
        };

    private static string Describe(RequestFate fate) => fate switch
    {
        RequestFate.Unanswered => " The request was sent, so the server may have executed it.",
        RequestFate.Unsent => " The request was not sent.",
        _ => string.Empty,
    };
}
