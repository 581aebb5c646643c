namespace FastPort.Protocol;

/// <summary>
/// A service of a <c>.proto</c> file, which lists its methods. The base class that the build generates for the service implements it;
/// derive the service's class from that.
/// </summary>
public interface IMessageService
{
    /// <summary>Maps the methods of the service.</summary>
    /// <param name="map">Receives each method.</param>
    static abstract void MapMethods(ServiceMap map);
}
