namespace FastPort;

/// <summary>
/// An <see cref="Authorizer"/> as a service of the host: <c>services.AddSingleton&lt;IAuthorizer, MyAuthorizer&gt;()</c>. It is called for
/// every message, so a singleton is best. A singleton serves all sessions at the same time; with any other lifetime, each message gets its
/// own scope and instance.
/// </summary>
public interface IAuthorizer
{
    /// <summary>Decides whether a session may send a message.</summary>
    /// <param name="request">The message that the session wants to send.</param>
    /// <param name="cancellationToken">Canceled when the session ends first, or the time for the answer is over.</param>
    ValueTask<bool> AuthorizeAsync(AuthorizationRequest request, CancellationToken cancellationToken);
}
