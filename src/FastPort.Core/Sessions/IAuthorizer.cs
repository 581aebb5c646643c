namespace FastPort.Sessions;

/// <summary>
/// An <see cref="Authorizer"/> as a service of the host: <c>services.AddSingleton&lt;IAuthorizer, MyAuthorizer&gt;()</c>. It is asked for
/// every message, so it is best a singleton, which serves
/// all sessions at the same time; others get a scope and an instance for each message.
/// </summary>
public interface IAuthorizer
{
    /// <summary>Says whether a session may send a message.</summary>
    /// <param name="request">What the session wants to do.</param>
    /// <param name="cancellationToken">Canceled when the session ends first, or the answer is not waited for any longer.</param>
    ValueTask<bool> AuthorizeAsync(AuthorizationRequest request, CancellationToken cancellationToken);
}
