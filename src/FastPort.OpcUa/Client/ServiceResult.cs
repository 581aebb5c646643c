using FastPort.OpcUa.SecureChannel;

namespace FastPort.OpcUa.Client;

/// <summary>How far a request came.</summary>
internal enum RequestFate : byte
{
    /// <summary>The server has answered, be it with a fault.</summary>
    Answered,

    /// <summary>It was sent, and no answer came, or an answer that does not show the outcome: the server may have executed it.</summary>
    Unanswered,

    /// <summary>It was not sent.</summary>
    Unsent,
}

/// <summary>The status of a service, and its response if that is good.</summary>
/// <param name="Status">The status of the service, or why there is no response.</param>
/// <param name="Response">The response.</param>
/// <param name="Fate">How far the request came.</param>
/// <param name="Owner">The memory of the response's byte strings, to be disposed; null if they have their own.</param>
internal readonly record struct ServiceResult<T>(
    StatusCode Status, T Response, RequestFate Fate = RequestFate.Answered, MessageBuffer? Owner = null);
